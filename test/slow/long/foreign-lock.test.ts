// Other programs that keep the write lock of the database, and commands that must not.
import { Database } from 'bun:sqlite'
import { expect, test } from 'bun:test'
import { readdirSync, readFileSync, readlinkSync } from 'node:fs'
import { lines, storeFolder } from '../../harness/commands'
import { type Daemon, startProgram, startTemporary } from '../../harness/daemon'
import { storedPlants } from '../../harness/plants'
import { until } from '../../harness/until'

/** The file that a descriptor of a process is open on; null if it was just closed. */
function linkOf(pid: number, fd: string): string | null {
  try {
    return readlinkSync(`/proc/${pid}/fd/${fd}`)
  } catch {
    return null
  }
}

const lockEvents = (daemon: Daemon) =>
  daemon.events().filter(({ event }) => /^(database|storage)-/.test(event))

test("a daemon reports another program's lock within 10 seconds, and recovers", async () => {
  await using daemon = await startTemporary()
  const { database } = daemon
  await daemon.create('{"id":1,"name":"before"}')
  using other = new Database(database)

  other.run('BEGIN IMMEDIATE')
  const started = performance.now()
  const detail = 'the database is locked by another program'
  const refused = await daemon.create('{"id":2,"name":"refused"}')
  const health = await daemon.fetch('/health')
  expect(performance.now() - started).toBeLessThan(14_000)
  expect(health.status).toBe(503)
  expect(await health.text()).toContain(detail)
  expect(refused.status).toBe(503)
  expect(await refused.json()).toEqual({ error: 50301, message: detail })
  expect(await daemon.metric('plantstore_storage_writable')).toBe(0)
  expect((await daemon.create('{"id":3,"name":"tried again"}')).status).toBe(503)
  expect((await daemon.fetch('/plants/1')).status).toBe(200)
  await Bun.sleep(3000)
  expect((await daemon.fetch('/health')).status).toBe(503)
  expect(lockEvents(daemon)).toMatchObject([{ event: 'database-locked', level: 'error' }])

  other.run('ROLLBACK')
  await daemon.event('writable-again')
  expect((await daemon.fetch('/health')).status).toBe(200)
  expect(await daemon.metric('plantstore_storage_writable')).toBe(1)
  expect((await daemon.create('{"id":4,"name":"after"}')).status).toBe(200)
  expect(lockEvents(daemon)).toHaveLength(1)
  expect(storedPlants(database).map(({ id }) => id)).toEqual([1n, 4n])
})

test('a daemon that waits for the lock of another program at its start stops at SIGTERM', async () => {
  using folder = storeFolder()
  const { database } = folder
  await folder.fill(3)
  using other = new Database(database)
  other.run('BEGIN IMMEDIATE')
  const args = ['serve', '--port', '0', '--keep-changes', '1d', '--database', database]
  await using daemon = startProgram(args)
  const isOpen = () =>
    readdirSync(`/proc/${daemon.pid}/fd`).some((fd) => linkOf(daemon.pid, fd) === `${database}-wal`)
  await until('the open write-ahead log', isOpen)

  expect(await daemon.stop()).toBe(0)

  expect(daemon.err()).not.toContain('locked')
  expect(daemon.err().trimEnd()).toEndWith('"event":"stopped"}')
})

test('an import that is stopped from its terminal holds no lock', async () => {
  using folder = storeFolder()
  const { database } = folder
  await folder.fill(3)
  using other = new Database(database)
  other.run('PRAGMA busy_timeout = 0')
  const args = ['import', '-', '--format', 'ndjson', '--database', database]
  await using command = startProgram(args, { stdin: lines(3, 400_000) })
  const stateOf = () => readFileSync(`/proc/${command.pid}/stat`, 'utf8').split(') ')[1]?.[0]
  const count = () => Number(other.query('SELECT count(*) FROM plants').values().flat()[0])
  await until('the first commit', () => count() > 3)

  let stops = 0
  while (stops < 40) {
    await Bun.sleep(Math.random() * 20)
    const before = count()
    if (before === 400_000) break
    command.signal('SIGTSTP')
    await until('the stop of the command', () => stateOf() === 'T')
    stops += 1
    expect(() => other.run('BEGIN IMMEDIATE; ROLLBACK')).not.toThrow()
    command.signal('SIGCONT')
    await until('the continuation of the command', () => stateOf() !== 'T')
  }

  expect(stops).toBe(40)
  expect(await command.finished).toBe(0)
  expect(count()).toBe(400_000)
})
