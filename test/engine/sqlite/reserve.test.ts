// The file beside a database that takes up space until a token is revoked on a full disk. The full disk itself is in
// test/slow/faults/full-disk.ts.
import { expect, setDefaultTimeout, test } from 'bun:test'
import {
  chownSync,
  existsSync,
  readFileSync,
  statSync,
  symlinkSync,
  truncateSync,
  writeFileSync,
} from 'node:fs'
import { makeReserve, releaseReserve } from '../../../src/engine/sqlite/file/reserve'
import { PATIENCE_MS, runProgram, startDaemon } from '../../harness/daemon'
import { temporaryFolder } from '../../harness/folder'
import { testUid } from '../../harness/unprivileged'

setDefaultTimeout(PATIENCE_MS)

const BYTES = 512 * 1024

test('a daemon makes the reserve, private and not compressible, and makes it again', async () => {
  using folder = temporaryFolder()
  const database = folder.file('plants.db')
  const reserve = folder.file('plants.db.reserve')
  await (await startDaemon({ database })).stop()

  expect(statSync(reserve)).toMatchObject({ size: BYTES, mode: 0o100600 })
  expect(Bun.gzipSync(readFileSync(reserve)).length).toBeGreaterThan(BYTES)

  truncateSync(reserve, 4096)
  const before = readFileSync(reserve)
  await runProgram(['token', 'list', '--database', database])
  expect(readFileSync(reserve)).toEqual(before)
  await (await startDaemon({ database })).stop()
  expect(statSync(reserve).size).toBe(BYTES)
})

test.skipIf(testUid !== 0)(
  'a reserve that root makes belongs to the owner of its folder',
  async () => {
    using folder = temporaryFolder()
    const database = folder.file('plants.db')
    chownSync(folder.path, 65_534, 65_533)

    await (await startDaemon({ database })).stop()

    expect(statSync(folder.file('plants.db.reserve'))).toMatchObject({ uid: 65_534, gid: 65_533 })
  },
)

test('a revocation leaves the reserve alone while the disk has space', async () => {
  using folder = temporaryFolder()
  const database = folder.file('plants.db')
  await (await startDaemon({ database })).stop()
  await runProgram(['token', 'create', 'laptop', '--database', database])
  const before = readFileSync(folder.file('plants.db.reserve'))

  expect((await runProgram(['token', 'revoke', 'laptop', '--database', database])).code).toBe(0)

  expect(readFileSync(folder.file('plants.db.reserve'))).toEqual(before)
})

test('a reserve that cannot be made is an event, and the daemon serves', async () => {
  using folder = temporaryFolder()
  const database = folder.file('plants.db')
  await Bun.write(folder.file('plants.db.reserve/file'), '')
  await using daemon = await startDaemon({ database })

  const { level, detail } = await daemon.event('reserve-not-made')

  expect(level).toBe('warn')
  expect(detail).toBeString()
  expect((await daemon.create('{"id":1,"name":"Rose"}')).status).toBe(200)
})

test('a link in the place of the reserve is replaced, and its target is unchanged', () => {
  using folder = temporaryFolder()
  writeFileSync(folder.file('other'), 'precious')
  symlinkSync(folder.file('other'), folder.file('plants.db.reserve'))

  makeReserve(folder.file('plants.db'))

  expect(readFileSync(folder.file('other'), 'utf8')).toBe('precious')
  expect(statSync(folder.file('plants.db.reserve')).size).toBe(BYTES)
})

test('the reserve is released once', () => {
  using folder = temporaryFolder()
  const database = folder.file('plants.db')
  makeReserve(database)

  expect(releaseReserve(database)).toBeTrue()
  expect(existsSync(folder.file('plants.db.reserve'))).toBeFalse()
  expect(releaseReserve(database)).toBeFalse()
})

test('a database that cannot be opened for another reason keeps its reserve', async () => {
  using folder = temporaryFolder()
  const database = folder.file('plants.db')
  await (await startDaemon({ database })).stop()
  truncateSync(database, 8192)

  const { code } = await runProgram(['token', 'revoke', 'laptop', '--database', database])

  expect(code).toBe(74)
  expect(statSync(folder.file('plants.db.reserve')).size).toBe(BYTES)
})

// In a mount namespace of its own: no mount outlives the command.
const canMount = Bun.spawnSync(['unshare', '-rm', 'true']).success

test.skipIf(!canMount)('the reserve of a full disk takes what is left', () => {
  using folder = temporaryFolder()
  const room = require.resolve('../../../src/engine/sqlite/file/reserve')
  const program = `require('${room}').makeReserve('${folder.file('plants.db')}')
    console.log(require('node:fs').statSync('${folder.file('plants.db.reserve')}').size)`
  const onSmallDisk = ['unshare', '-rm', 'sh', '-c', 'mount -t tmpfs -o size=64k none "$0" && "$@"']

  const { stdout, exitCode } = Bun.spawnSync([
    ...onSmallDisk,
    folder.path,
    process.execPath,
    '-e',
    program,
  ])

  expect({ size: Number(stdout), exitCode }).toEqual({ size: 65_536, exitCode: 0 })
})
