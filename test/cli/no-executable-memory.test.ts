// `ulimit -v`, as MemoryDenyWriteExecute= and SELinux, keeps the runtime from making executable memory.
import { expect, setDefaultTimeout, test } from 'bun:test'
import { readdirSync } from 'node:fs'
import { refusalOf, storeFolder } from '../harness/commands'
import { PATIENCE_MS, runProgram } from '../harness/daemon'

setDefaultTimeout(PATIENCE_MS)

const REASON = /no executable memory, which plantstore needs /
const LIMITED = ['bash', '-c', 'ulimit -v 2000000; exec "$@"', 'bash']

test.each([
  ['serve', ['serve', '--port', '0']],
  ['import', ['import', 'plants.ndjson']],
])('%s says why it cannot start, and leaves no file', async (_, args) => {
  using folder = storeFolder()
  await Bun.write(folder.file('plants.ndjson'), '{"id":1,"name":"Rose"}\n')
  expect(refusalOf(await runProgram(args, { cwd: folder.path, under: LIMITED }))).toMatch(REASON)
  expect(readdirSync(folder.path)).toEqual(['plants.ndjson'])
})

test.each([
  ['export', ['export']],
  ['restore', ['restore', 'plants.db', '--database', 'other.db']],
])('%s reports the reason in one line, and leaves no file', async (_, args) => {
  using folder = storeFolder()
  const database = ['--database', folder.database]
  await runProgram(['import', '-', '--format', 'ndjson', ...database], {
    stdin: '{"id":1,"name":"Rose"}\n',
  })
  const before = readdirSync(folder.path)
  const { err, code } = await runProgram(args, { cwd: folder.path, under: LIMITED })

  expect(code).toBe(1)
  expect(err).toMatch(REASON)
  expect(readdirSync(folder.path).toSorted()).toEqual(before.toSorted())
})
