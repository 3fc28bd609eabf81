import { expect, setDefaultTimeout, test } from 'bun:test'
import { renameSync, statSync } from 'node:fs'
import { type Daemon, PATIENCE_MS, startDaemon, temporaryFolder } from '../../harness/daemon'
import { storedPlants } from '../../harness/plants'
import { until } from '../../harness/until'

setDefaultTimeout(PATIENCE_MS)

const LAGS_AT_MOST_MS = 10_000

async function healthBecomes(daemon: Daemon, status: number): Promise<void> {
  const isThat = async () => (await daemon.fetch('/health')).status === status
  await until(`/health to be ${status}`, isThat, LAGS_AT_MOST_MS)
}

/** Asks often, for longer than a probe that succeeds would take to change it. */
async function expectUnhealthy(daemon: Daemon): Promise<void> {
  for (let asked = 0; asked < 30; asked++) {
    expect((await daemon.fetch('/health')).status).toBe(503)
    await Bun.sleep(100)
  }
  expect(await daemon.metric('plantstore_storage_writable')).toBe(0)
}

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

  renameSync(database, `${database}.moved`)
  await healthBecomes(daemon, 503)
  renameSync(`${database}.moved`, database)
  await expectUnhealthy(daemon)
})

test('a limit of file sizes is an I/O error to SQLite: the daemon ends, and has what it acknowledged', async () => {
  using folder = temporaryFolder()
  const database = folder.file('plants.db')
  await using daemon = await startDaemon({ database, args: ['--keep-changes', '1d'] })
  expect((await daemon.create('{"id":1,"name":"Rose"}')).status).toBe(200)
  expect(Bun.spawnSync(['prlimit', '--pid', `${daemon.pid}`, '--fsize=61440:']).exitCode).toBe(0)
  const large = daemon.create(`{"id":2,"name":"${'x'.repeat(100_000)}"}`)

  await expect(large).rejects.toThrow('closed')
  expect(await daemon.exited).toBe(74)
  const errors = daemon.events().filter(({ level }) => level === 'error')
  expect(errors).toEqual([
    expect.objectContaining({ event: 'storage-failed', detail: expect.stringContaining('IOERR') }),
  ])
  await using again = await startDaemon({ database })
  expect((await again.create('{"id":4,"name":"Lily"}')).status).toBe(200)
  expect(await again.stop()).toBe(0)
  expect(storedPlants(database).map(({ id }) => id)).toEqual([1n, 4n])
})
