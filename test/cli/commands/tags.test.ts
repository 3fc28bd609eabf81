import { expect, setDefaultTimeout, test } from 'bun:test'
import { importLines } from '../../harness/commands'
import { PATIENCE_MS, runProgram, startDaemon, temporaryFolder } from '../../harness/daemon'

setDefaultTimeout(PATIENCE_MS)

test('tags prints every tag and its plants in the order of code points, beside the daemon', async () => {
  using folder = temporaryFolder()
  const database = folder.file('plants.db')
  // In the order of UTF-16, the cactus is before the tilde.
  const tags = ['\u{1F335}', 'aroid', '', '\uff5e', 'aroid', '"a"\n', undefined]
  await importLines(
    database,
    tags.map((tag, id) => JSON.stringify({ id, name: '', tag })).join('\n'),
  )
  await using daemon = await startDaemon({ database })
  await daemon.create('{"id":100,"name":"","tag":"new"}')

  const { out, err, code } = await runProgram(['tags', '--database', database])

  expect({ err, code }).toEqual({ err: '', code: 0 })
  expect(out).toBe(
    [
      '{"tag":"","plants":1}',
      '{"tag":"\\"a\\"\\n","plants":1}',
      '{"tag":"aroid","plants":2}',
      '{"tag":"new","plants":1}',
      '{"tag":"\uff5e","plants":1}',
      '{"tag":"\u{1F335}","plants":1}',
      '',
    ].join('\n'),
  )
  const page = (await (await daemon.fetch('/tags')).json()) as { readonly tags: unknown[] }
  expect(out.trimEnd().split('\n')).toEqual(page.tags.map((tag) => JSON.stringify(tag)))
})

test('tags ends with 74 if it cannot write, and with 1 where there is no database', async () => {
  using folder = temporaryFolder()
  const database = folder.file('plants.db')
  const none = await runProgram(['tags', '--database', database])
  expect({ out: none.out, code: none.code }).toEqual({ out: '', code: 1 })
  expect(none.err).toContain(database)

  await importLines(database, '{"id":1,"name":"","tag":"a"}')
  const under = ['bash', '-c', '"$0" "$@" > /dev/full']
  const full = await runProgram(['tags', '--database', database], { under })
  expect(full).toMatchObject({
    err: 'plantstore: cannot write to standard output: disk full\n',
    code: 74,
  })
})
