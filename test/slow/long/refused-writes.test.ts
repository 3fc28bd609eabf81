// Refusals of every create although a smaller write succeeds. test/slow/faults/full-disk.ts has a full disk.
import { Database } from 'bun:sqlite'
import { expect, setDefaultTimeout, test } from 'bun:test'
import { renameSync, statSync } from 'node:fs'
import { openStore } from '../../../src/engine/engine'
import { storeOwner as daemonRole } from '../../../src/engine/store-user'
import {
  type Daemon,
  PATIENCE_MS,
  runProgram,
  startDaemon,
  temporaryFolder,
} from '../../harness/daemon'
import { expectError, storedPlants } from '../../harness/plants'
import { until } from '../../harness/until'

setDefaultTimeout(PATIENCE_MS)

const LAGS_AT_MOST_MS = 10_000

async function healthBecomes(daemon: Daemon, status: number): Promise<void> {
  const isThat = async () => (await daemon.fetch('/health')).status === status
  await until(`/health to be ${status}`, isThat, LAGS_AT_MOST_MS)
}

const isWritable = async (daemon: Daemon): Promise<string | undefined> =>
  /^plantstore_storage_writable (.)$/m.exec(await (await daemon.fetch('/metrics')).text())?.[1]

/** Asks often, for longer than a probe that succeeds would take to change it. */
async function expectUnhealthy(daemon: Daemon): Promise<void> {
  for (let asked = 0; asked < 30; asked++) {
    expect((await daemon.fetch('/health')).status).toBe(503)
    await Bun.sleep(100)
  }
  expect(await isWritable(daemon)).toBe('0')
}

test('a probe writes as much as a create, and stores nothing', async () => {
  using folder = temporaryFolder()
  const database = folder.file('plants.db')
  const store = await openStore(
    database,
    daemonRole(
      () => {},
      () => {},
      86_400_000,
    ),
  )
  await store.createPlant({ id: 1n, name: 'Rose', tag: 'red' })
  const walBytes = () => statSync(`${database}-wal`).size
  const before = walBytes()
  // Long enough for the create not to count as a probe.
  await Bun.sleep(1100)

  await store.probe()

  expect(walBytes() - before).toBeGreaterThan(64 * 1024)
  expect(await store.countPlants()).toBe(1)
  const { plants } = await store.listPlants({ limit: 10 })
  expect(plants).toEqual([{ id: 1n, name: 'Rose', tag: 'red' }])
  expect((await store.changeLog?.read({ limit: 10 }))?.entries).toHaveLength(1)
  await store.createPlant({ id: 2n, name: 'Lily' })
  await store.close()
  const check = await runProgram(['check', '--database', database])
  expect(check.code).toBe(0)
  expect(storedPlants(database).map(({ id }) => id)).toEqual([1n, 2n])
})

test('health writes nothing while all is well, and finds what others do to the file', async () => {
  using folder = temporaryFolder()
  const database = folder.file('plants.db')
  await using daemon = await startDaemon({ database, args: ['--keep-changes', '1d'] })
  await daemon.create('{"id":1,"name":"Rose"}')
  await healthBecomes(daemon, 200)
  const written = () => statSync(`${database}-wal`, { bigint: true }).mtimeNs
  const before = written()
  for (let asked = 0; asked < 3; asked++) {
    await Bun.sleep(1200)
    await healthBecomes(daemon, 200)
  }
  expect(written()).toBe(before)

  using other = new Database(database)
  other.run('CREATE TRIGGER mine AFTER DELETE ON plants BEGIN DELETE FROM tokens; END')
  await healthBecomes(daemon, 503)
  other.run('DROP TRIGGER mine')
  await healthBecomes(daemon, 200)
  other.close(true)
  renameSync(database, `${database}.moved`)
  await healthBecomes(daemon, 503)
  renameSync(`${database}.moved`, database)
  await healthBecomes(daemon, 200)
})

test('a limit of file sizes makes the store unhealthy until it is raised; reads go on', async () => {
  using folder = temporaryFolder()
  const database = folder.file('plants.db')
  await using daemon = await startDaemon({ database, args: ['--keep-changes', '1d'] })
  expect((await daemon.create('{"id":1,"name":"Rose"}')).status).toBe(200)
  const limitFiles = (bytes: string) =>
    expect(Bun.spawnSync(['prlimit', '--pid', `${daemon.pid}`, `--fsize=${bytes}:`]).exitCode).toBe(
      0,
    )
  limitFiles('61440')
  await expectError(await daemon.create(`{"id":2,"name":"${'x'.repeat(100_000)}"}`), 50302)

  await expectUnhealthy(daemon)
  await expectError(await daemon.create('{"id":3,"name":"Lily"}'), 50302)
  expect((await daemon.fetch('/plants/1')).status).toBe(200)
  await expectUnhealthy(daemon)

  limitFiles('unlimited')
  await healthBecomes(daemon, 200)
  expect(await isWritable(daemon)).toBe('1')
  expect((await daemon.create('{"id":4,"name":"Lily"}')).status).toBe(200)
  expect(await daemon.stop()).toBe(0)
  expect(storedPlants(database).map(({ id }) => id)).toEqual([1n, 4n])
})

test('a constraint of another program that refuses plants makes the store unhealthy until it is dropped', async () => {
  using folder = temporaryFolder()
  const database = folder.file('plants.db')
  await using daemon = await startDaemon({ database })
  expect((await daemon.create('{"id":1,"name":"Rose"}')).status).toBe(200)
  using other = new Database(database)
  other.run('ALTER TABLE plants ADD COLUMN only TEXT CHECK (id = 1)')

  await expectError(await daemon.create('{"id":2,"name":"Lily"}'), 50001)
  await healthBecomes(daemon, 503)
  // A commit that succeeds does not heal it.
  expect((await daemon.fetch('/plants/1', { method: 'PATCH', json: { tag: 'red' } })).status).toBe(
    200,
  )
  await expectUnhealthy(daemon)
  const { detail } = await daemon.event('cannot-write')
  expect(detail).toBe('SQLITE_CONSTRAINT_CHECK CHECK constraint failed: id = 1')

  other.run('ALTER TABLE plants DROP COLUMN only')
  await healthBecomes(daemon, 200)
  await daemon.event('writable-again')
  expect((await daemon.create('{"id":2,"name":"Lily"}')).status).toBe(200)
  expect(storedPlants(database).map(({ id }) => id)).toEqual([1n, 2n])
})
