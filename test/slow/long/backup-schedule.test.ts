// Scheduled backups: --backup-folder, --backup-every, --backup-keep.
import { Database } from 'bun:sqlite'
import { expect, spyOn, test } from 'bun:test'
import {
  existsSync,
  mkdirSync,
  openSync,
  readdirSync,
  readFileSync,
  renameSync,
  statSync,
  symlinkSync,
  writeFileSync,
  writeSync,
} from 'node:fs'
import { basename } from 'node:path'
import { backupName, backupTime } from '../../../src/daemon/backups/folder'
import { BackupSchedule } from '../../../src/daemon/backups/schedule'
import { check, importLines, lines } from '../../harness/commands'
import {
  type Daemon,
  program,
  runProgram,
  startDaemon,
  TOKEN,
  temporaryFolder,
} from '../../harness/daemon'
import { inTime, until } from '../../harness/until'

const LAST_BACKUP = 'plantstore_backup_last_success_timestamp_seconds'
const BACKUP = /^plants-\d{8}T\d{6}Z\.db$/
const backupsIn = (folder: string) =>
  readdirSync(folder)
    .filter((name) => BACKUP.test(name))
    .sort()
const leftoversIn = (folder: string) => readdirSync(folder).filter((name) => name.startsWith('.'))
const nameAgo = (seconds: number) => backupName('plants.db', Date.now() - seconds * 1000)

/** A folder for backups, and a database of so many plants: with many, a backup takes its time. */
async function prepare(plants = 20) {
  const folder = temporaryFolder()
  const database = folder.file('plants.db')
  const backups = folder.file('backups')
  mkdirSync(backups)
  await importLines(database, lines(0, 10))
  const db = new Database(database)
  db.run(
    `WITH RECURSIVE n(value) AS (SELECT 1000 UNION ALL SELECT value + 1 FROM n WHERE value < ?) INSERT INTO plants SELECT value, 'plant ' || value, 'a' FROM n`,
    [999 + plants - 10],
  )
  db.run('UPDATE change_log SET plants = (SELECT count(*) FROM plants)')
  db.close(true)
  return {
    folder,
    database,
    backups,
    /** Writes files into the folder for backups, each with its name in it. */
    write: (...names: readonly string[]) => {
      for (const name of names) writeFileSync(`${backups}/${name}`, name)
    },
    /** Starts a daemon with backups. */
    start: (...more: readonly string[]) =>
      startDaemon({ database, args: ['--backup-folder', backups, ...more] }),
    [Symbol.dispose]: folder[Symbol.dispose],
  }
}

const eventsOf = (daemon: Daemon, name: string) =>
  daemon.events().filter(({ event }) => event === name)

/** The process that makes a backup now; undefined where there is none. */
function childOf(pid: number): number | undefined {
  const threads = readdirSync(`/proc/${pid}/task`)
  const pids = threads.flatMap((thread) =>
    readFileSync(`/proc/${pid}/task/${thread}/children`, 'utf8').split(' ').filter(Boolean),
  )
  return pids.map(Number)[0]
}

/** Stops the next backup where it is: it has written something, and is not done. */
async function freezeBackup(daemon: { readonly pid: number }, backups: string): Promise<number> {
  await until('a backup in progress', () => leftoversIn(backups).length > 0)
  const child = childOf(daemon.pid)
  if (child === undefined) throw new Error('the backup was too fast')
  process.kill(child, 'SIGSTOP')
  return child
}

test('a daemon makes backups under load, keeps the newest two, and touches no other file', async () => {
  using store = await prepare(1000)
  const { folder, backups } = store
  const others = [
    'notes.txt',
    'plants-2020.db',
    'other-20200101T000000Z.db',
    'plants-20200230T000000Z.db',
  ]
  store.write(...others, 'plants-20200101T000000Z.db')
  writeFileSync(folder.file('outside.db'), 'precious')
  symlinkSync(folder.file('outside.db'), `${backups}/plants-20200102T000000Z.db`)
  mkdirSync(`${backups}/plants-20200103T000000Z.db`)
  const before = Date.now()

  await using daemon = await store.start('--backup-every', '1s', '--backup-keep', '2')
  let acknowledged = 0
  let sentBefore = 0
  while (eventsOf(daemon, 'backup-made').length < 4) {
    const count = eventsOf(daemon, 'backup-made').length
    const answer = await daemon.create(`{"id":${100_000 + acknowledged},"name":"under load"}`)
    expect(answer.status).toBe(200)
    acknowledged += 1
    if (count < 2) sentBefore = acknowledged
  }
  const made = eventsOf(daemon, 'backup-made').map(({ file }) => String(file))
  await until(
    'two backups left of those made',
    () => made.filter((path) => existsSync(path)).length <= 2,
  )

  expect(made.slice(0, 2).filter((path) => existsSync(path))).toEqual([])
  expect(existsSync(`${backups}/plants-20200101T000000Z.db`)).toBe(false)
  for (const name of others) expect(readFileSync(`${backups}/${name}`, 'utf8')).toBe(name)
  expect(readFileSync(`${backups}/plants-20200102T000000Z.db`, 'utf8')).toBe('precious')
  expect(existsSync(`${backups}/plants-20200103T000000Z.db`)).toBe(true)

  expect(await daemon.stop('SIGTERM')).toBe(0)
  const last = made.at(-1) ?? ''
  const copy = new Database(last, { readonly: true })
  const [stored] = copy.query('SELECT count(*) FROM plants WHERE id >= 100000').values().flat()
  copy.close(true)
  expect(Number(stored)).toBeGreaterThanOrEqual(sentBefore)
  expect((await check(last)).code).toBe(0)
  expect(statSync(last).mode & 0o777).toBe(0o600)
  expect(backupTime('plants.db', last.slice(backups.length + 1))).toBeGreaterThan(before - 1000)
  expect(leftoversIn(backups)).toEqual([])
})

test('a daemon reports the time of the last backup, even after a restart, which makes no other', async () => {
  using store = await prepare(1000)
  const { backups } = store
  const seen: number[] = []
  for (let starts = 0; starts < 2; starts++) {
    await using daemon = await store.start()
    await until('the time of a backup', async () => (await daemon.metric(LAST_BACKUP)) > 0)
    seen.push(await daemon.metric(LAST_BACKUP))
    // Another backup would have another name by now.
    await Bun.sleep(1100)
    await daemon.stop()
  }

  const [name = '', ...more] = backupsIn(backups)
  const expected = Number(backupTime('plants.db', name)) / 1000
  expect(more).toEqual([])
  expect(seen).toEqual([expected, expected])
})

test('a scheduled backup warns of edits by another program, and is made', async () => {
  using store = await prepare(1000)
  const { backups } = store
  using db = new Database(store.database)
  db.run('DELETE FROM plants WHERE id = 1')
  await using daemon = await store.start()

  const { detail } = await daemon.event('backup-differs')

  expect(detail).toContain('the recorded number of plants is 1000, but 999 are stored')
  await daemon.event('backup-made')
  expect(backupsIn(backups)).toHaveLength(1)
  expect(eventsOf(daemon, 'backup-failed')).toEqual([])
})

test.each([
  [1, ['--backup-keep', '1'], 0],
  [4, ['--backup-keep', '3'], 2],
  [10, [], 9],
  [7, [], 6],
  [3, [], 3],
])(
  'a daemon beside %d old backups, with %j, makes one at the start and keeps %d, and one dated in the future',
  async (count, args, kept) => {
    using store = await prepare()
    const { backups } = store
    const old = Array.from({ length: count }, (_, n) => nameAgo(90_000 - n))
    // The clock was wrong once.
    const future = 'plants-20990101T000000Z.db'
    store.write(...old, future)

    await using daemon = await store.start(...args)
    const { file } = await daemon.event('backup-made')
    await until('old backups to be removed', () => backupsIn(backups).length <= kept + 2)
    await daemon.stop()

    const expected = [...old.slice(count - kept), basename(String(file)), future]
    expect(backupsIn(backups)).toEqual(expected)
  },
)

test('a failure is not hidden by a backup dated in the future', async () => {
  using store = await prepare()
  const { folder, database, backups } = store
  const events: string[] = []
  let clockMs = Date.now() + 31_536_000_000
  const plan = { database, backupFolder: backups, backupEvery: 1000, backupKeep: null }
  const log = (_: unknown, event: string) => events.push(event)
  const scheduled = new BackupSchedule(plan, log, () => clockMs, program)

  scheduled.start()
  await until('a backup', () => events.includes('backup-made'))
  renameSync(database, folder.file('away.db'))
  clockMs = Date.now()
  await until('a failure', () => events.includes('backup-failed'))
  await scheduled.stop()

  expect(scheduled.lastAt).toBe(0)
})

test('a schedule sets no timer for longer than a timer can run', async () => {
  using folder = temporaryFolder()
  const now = Date.UTC(2026, 0, 31, 12)
  writeFileSync(folder.file(backupName('plants.db', now)), 'made now')
  const waits: unknown[] = []
  const { promise, resolve } = Promise.withResolvers<void>()
  // Its deadline is a timer too.
  const waiting = inTime(() => 'a timer', promise)
  const spy = spyOn(globalThis, 'setTimeout').mockImplementation(((_: unknown, ms: unknown) => {
    waits.push(ms)
    resolve()
  }) as never)
  try {
    const plan = { database: 'plants.db', backupFolder: folder.path, backupKeep: null }
    const year = 31_536_000_000
    new BackupSchedule(
      { ...plan, backupEvery: 1000 * year },
      () => {},
      () => now,
    ).start()
    await waiting
  } finally {
    spy.mockRestore()
  }

  expect(waits).toHaveLength(1)
  expect(Number(waits[0])).toBeGreaterThan(1000)
  expect(Number(waits[0])).toBeLessThan(2 ** 31)
})

test('a damaged database gets no backup, and no old one is removed', async () => {
  using store = await prepare(5000)
  const { backups } = store
  writeSync(openSync(store.database, 'r+'), Buffer.alloc(4096, 0xa5), 0, 4096, 4096 * 20)
  const old = [nameAgo(9000), nameAgo(5000)]
  store.write(...old)

  await using daemon = await store.start('--backup-every', '1h', '--backup-keep', '1')
  const failed = await daemon.event('backup-failed')

  expect(failed).toMatchObject({ level: 'error', retrySeconds: 3600 })
  expect(String(failed.detail)).toContain('plants.db is damaged')
  expect(readdirSync(backups).sort()).toEqual(old.sort())
  expect(eventsOf(daemon, 'backup-failed')).toHaveLength(1)
  expect((await daemon.fetch('/health')).status).toBe(200)
})

test.each([
  ['plants.db', 'plants-20260131T120000Z.db'],
  ['/data/a+b', 'a+b-20260131T120000Z.db'],
  ['herbs.sqlite', 'herbs.sqlite-20260131T120000Z.db'],
])('a backup of %s is named %s', (database, name) => {
  const at = Date.UTC(2026, 0, 31, 12)

  expect(backupName(database, at + 999)).toBe(name)
  expect(backupTime(database, name)).toBe(at)
})

test.each([
  'plants.db',
  'plants-20260131T120000Z.db-wal',
  'plants-20260131T120000Z.db.old',
  'my-plants-20260131T120000Z.db',
  'plants-more-20260131T120000Z.db',
  'plants-20260230T120000Z.db',
  'plants-20260131T246060Z.db',
])('%s is not a backup of plants.db', (name) => {
  expect(backupTime('plants.db', name)).toBeNull()
})

test('a backup that takes too long is killed and is a failure, and the next one is made', async () => {
  using store = await prepare(200_000)
  const { database, backups } = store
  const events: { event: string; detail?: unknown }[] = []
  const plan = { database, backupFolder: backups, backupEvery: 1000, backupKeep: null }
  const scheduled = new BackupSchedule(
    plan,
    (_, event, fields) => events.push({ event, ...fields }),
    Date.now,
    program,
    5000,
  )

  scheduled.start()
  const child = await freezeBackup(process, backups)
  await until('an event', () => events.length > 0)
  await until('the removal of the unfinished backup', () => leftoversIn(backups).length === 0)
  await until('the next event', () => events.length > 1)
  await scheduled.stop()

  expect(events[0]).toMatchObject({ event: 'backup-failed', retrySeconds: 1 })
  expect(events[0]?.detail).toBe('the backup process ended with SIGKILL')
  expect(events[1]).toMatchObject({ event: 'backup-made' })
  expect(existsSync(`/proc/${child}`)).toBe(false)
})

test('a stop ends a backup that is under way, and leaves nothing of it', async () => {
  using store = await prepare(200_000)
  const { backups } = store

  await using daemon = await store.start()
  const child = await freezeBackup(daemon, backups)
  expect(readFileSync(`/proc/${child}/environ`, 'utf8')).not.toContain(TOKEN)
  const code = await daemon.stop('SIGTERM')

  expect(code).toBe(0)
  expect(existsSync(`/proc/${child}`)).toBe(false)
  expect(readdirSync(backups)).toEqual([])
  expect(readdirSync(store.folder.path).sort()).toEqual(['backups', 'plants.db'])
  expect(eventsOf(daemon, 'backup-failed')).toEqual([])
})

test('a daemon removes what a killed backup has left', async () => {
  using store = await prepare(200_000)
  const { backups } = store
  {
    await using daemon = await store.start()
    const child = await freezeBackup(daemon, backups)
    await daemon.kill()
    process.kill(child, 'SIGKILL')
    await until(
      'the end of the child process',
      () =>
        !existsSync(`/proc/${child}`) || /\) Z/.test(readFileSync(`/proc/${child}/stat`, 'utf8')),
    )
  }
  expect(leftoversIn(backups)).toHaveLength(1)
  expect(backupsIn(backups)).toEqual([])

  await using daemon = await store.start()
  await daemon.event('backup-made')

  expect(leftoversIn(backups)).toEqual([])
  expect(backupsIn(backups)).toHaveLength(1)
})

test.each([
  [['--backup-every', '12h'], 2, '--backup-every and --backup-keep need --backup-folder'],
  [['--backup-keep', '3'], 2, '--backup-every and --backup-keep need --backup-folder'],
  [
    ['--backup-folder', 'FOLDER', '--backup-every', '0'],
    2,
    '--backup-every must be a duration from 1s to 1000y',
  ],
  [['--backup-folder', 'FOLDER', '--backup-keep', '0'], 2, '--backup-keep must be'],
  [['--backup-folder', 'FOLDER/none'], 1, 'none: no such file or folder'],
  [['--backup-folder', 'FOLDER/plants.db'], 1, 'plants.db: not a folder'],
])('serve refuses %j in one line', async (args, code, message) => {
  using folder = temporaryFolder()
  writeFileSync(folder.file('plants.db'), '')
  const words = args.map((it) => it.replace('FOLDER', folder.path))

  const result = await runProgram(['serve', '--port', '0', ...words], { cwd: folder.path })

  expect(result.code).toBe(code)
  expect(result.err).toContain(message)
  expect(result.err.trim().split('\n')).toHaveLength(1)
  expect(statSync(folder.file('plants.db')).size).toBe(0)
})
