// Plants of megabytes, imported and exported.
import { expect, setDefaultTimeout, test } from 'bun:test'
import { PATIENCE_MS, runProgram, temporaryFolder } from '../../harness/daemon'

setDefaultTimeout(PATIENCE_MS)

test.each(['ndjson', 'csv'])('a plant of 17 MiB is imported and exported: %s', async (format) => {
  using folder = temporaryFolder()
  const name = 'a'.repeat(17 * 1024 * 1024)
  const words = ['-', '--format', format, '--database', folder.file('plants.db')]
  const header = format === 'csv' ? 'id,name,tag\n' : ''
  const line = format === 'csv' ? `1,${name},\n` : `{"id":1,"name":"${name}"}\n`

  const { out } = await runProgram(['import', ...words], { stdin: header + line })
  const exported = await runProgram(['export', ...words])

  expect(out).toBe('created 1, skipped 0, replaced 0, refused 0; 1 row read\n')
  expect(exported.out === header + line).toBeTrue()
})

test.each([
  [1200, 10_000],
  [12, 1_000_000],
  [2, 10_000_000],
])('an import stores %d plants of %d characters', async (count, characters) => {
  using folder = temporaryFolder()
  const name = 'x'.repeat(characters)
  const lines = Array.from({ length: count }, (_, id) => `{"id":${id},"name":"${name}"}\n`)
  await Bun.write(folder.file('plants.ndjson'), `{"id":-1,"name":"small"}\n${lines.join('')}`)

  const { out } = await runProgram([
    'import',
    folder.file('plants.ndjson'),
    '--database',
    folder.file('plants.db'),
  ])

  expect(out).toBe(
    `created ${count + 1}, skipped 0, replaced 0, refused 0; ${count + 1} rows read\n`,
  )
})
