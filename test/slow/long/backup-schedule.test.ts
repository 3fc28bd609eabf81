// Scheduled backups: --backup-folder, --backup-every, --backup-keep.
import { Database } from 'bun:sqlite'
import { expect, setDefaultTimeout, spyOn, test } from 'bun:test'
import {
  chmodSync,
  existsSync,
  mkdirSync,
  openSync,
  readdirSync,
  readFileSync,
  renameSync,
  rmSync,
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
  PATIENCE_MS,
  program,
  runProgram,
  startDaemon,
  TOKEN,
  temporaryFolder,
} from '../../harness/daemon'
import { unprivileged } from '../../harness/unprivileged'
import { inTime, until } from '../../harness/until'

setDefaultTimeout(PATIENCE_MS)

const BACKUP = /^plants-\d{8}T\d{6}Z\.db$/
const isRoot = process.getuid?.() === 0
const asNobody = unprivileged()
// A container may not mount.
const canMount =
  isRoot &&
  Bun.spawnSync(['unshare', '--mount', 'mount', '-t', 'tmpfs', 'x', '/mnt']).exitCode === 0
const backupsIn = (folder: string) =>
  readdirSync(folder)
    .filter((name) => BACKUP.test(name))
    .sort()
const leftoversIn = (folder: string) => readdirSync(folder).filter((name) => name.startsWith('.'))
const nameAgo = (seconds: number) => backupName('plants.db', Date.now() - seconds * 1000)

/** A folder for backups, and a database of many plants, so that a backup takes its time. */
async function prepare(folder: { file: (name: string) => string }, plants = 1000) {
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
  return { database, backups }
}

const schedule = (backups: string, ...more: readonly string[]) => [
  '--backup-folder',
  backups,
  ...more,
]

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

test('makes backups under load, keeps the newest two, and touches no other file', async () => {
  using folder = temporaryFolder()
  const { database, backups } = await prepare(folder)
  const others = [
    'notes.txt',
    'plants-2020.db',
    'other-20200101T000000Z.db',
    'plants-20200230T000000Z.db',
  ]
  for (const name of others) writeFileSync(`${backups}/${name}`, name)
  writeFileSync(folder.file('outside.db'), 'precious')
  symlinkSync(folder.file('outside.db'), `${backups}/plants-20200102T000000Z.db`)
  mkdirSync(`${backups}/plants-20200103T000000Z.db`)
  writeFileSync(`${backups}/plants-20200101T000000Z.db`, 'an old backup')
  const before = Date.now()

  const args = schedule(backups, '--backup-every', '1s', '--backup-keep', '2')
  await using daemon = await startDaemon({ database, args })
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

test('reports the time and the size of the last backup, even after a restart, which makes no other', async () => {
  using folder = temporaryFolder()
  const { database, backups } = await prepare(folder)
  const seen: number[][] = []
  for (let starts = 0; starts < 2; starts++) {
    await using daemon = await startDaemon({ database, args: schedule(backups) })
    await until(
      'the size of a backup',
      async () => (await daemon.metric('plantstore_backup_bytes')) > 0,
    )
    seen.push([
      await daemon.metric('plantstore_backup_last_success_timestamp_seconds'),
      await daemon.metric('plantstore_backup_bytes'),
      await daemon.metric('plantstore_backup_failures_total'),
    ])
    // Another backup would have another name by now.
    await Bun.sleep(1100)
    await daemon.stop()
  }

  const [name = '', ...more] = backupsIn(backups)
  const expected = [
    Number(backupTime('plants.db', name)) / 1000,
    statSync(`${backups}/${name}`).size,
    0,
  ]
  expect(more).toEqual([])
  expect(seen).toEqual([expected, expected])
})

test('warns of edits by another program, and makes the backup', async () => {
  using folder = temporaryFolder()
  const { database, backups } = await prepare(folder)
  using db = new Database(database)
  db.run('DELETE FROM plants WHERE id = 1')
  await using daemon = await startDaemon({ database, args: schedule(backups) })

  const { detail } = await daemon.event('backup-differs')

  expect(detail).toContain('the recorded number of plants is 1000, but 999 are stored')
  await daemon.event('backup-made')
  expect(backupsIn(backups)).toHaveLength(1)
  expect(eventsOf(daemon, 'backup-failed')).toEqual([])
})

test('makes a backup at the start when the newest is older than the interval', async () => {
  using folder = temporaryFolder()
  const { database, backups } = await prepare(folder, 20)
  const old = nameAgo(4000)
  writeFileSync(`${backups}/${old}`, 'old')
  // The clock was wrong once.
  writeFileSync(`${backups}/plants-20990101T000000Z.db`, 'early')

  const args = schedule(backups, '--backup-every', '1h', '--backup-keep', '1')
  await using daemon = await startDaemon({ database, args })
  const { file } = await daemon.event('backup-made')
  await until('the removal of the old backup', () => !existsSync(`${backups}/${old}`))

  expect(existsSync(String(file))).toBe(true)
})

test('keeps the given number of newest backups', async () => {
  using folder = temporaryFolder()
  const { database, backups } = await prepare(folder, 20)
  const old = [8000, 7000, 6000, 5000].map(nameAgo)
  for (const name of old) writeFileSync(`${backups}/${name}`, 'old')

  const args = schedule(backups, '--backup-every', '1h', '--backup-keep', '3')
  await using daemon = await startDaemon({ database, args })
  const { file } = await daemon.event('backup-made')
  await until('three backups left', () => backupsIn(backups).length <= 3)

  expect(backupsIn(backups)).toEqual([...old.slice(2), basename(String(file))])
})

test('without --backup-keep, keeps as many as there are, and at least seven', async () => {
  for (const [count, kept] of [
    [10, 10],
    [7, 7],
    [3, 4],
  ] as const) {
    using folder = temporaryFolder()
    const { database, backups } = await prepare(folder, 20)
    const old = Array.from({ length: count }, (_, n) => nameAgo(90_000 - n))
    for (const name of old) writeFileSync(`${backups}/${name}`, 'old')

    await using daemon = await startDaemon({ database, args: schedule(backups) })
    const { file } = await daemon.event('backup-made')
    await until('old backups to be removed', () => backupsIn(backups).length <= kept)
    await daemon.stop()

    expect(backupsIn(backups)).toEqual([...old.slice(1 - kept), basename(String(file))])
  }
})

test('backups dated in the future displace none, and stay', async () => {
  using folder = temporaryFolder()
  const { database, backups } = await prepare(folder, 20)
  const old = [9000, 8000, 7000].map(nameAgo)
  const future = [1, 2, 3].map((day) => `plants-2099010${day}T000000Z.db`)
  for (const name of [...old, ...future]) writeFileSync(`${backups}/${name}`, name)

  const args = schedule(backups, '--backup-every', '1s', '--backup-keep', '3')
  await using daemon = await startDaemon({ database, args })
  await daemon.prints(() => eventsOf(daemon, 'backup-made').length >= 2)
  await until('the removal of an old backup', () => !existsSync(`${backups}/${old[1]}`))
  await daemon.stop()

  // One more may have been made before the stop.
  expect(backupsIn(backups).length).toBeGreaterThanOrEqual(6)
  expect(backupsIn(backups).slice(-3)).toEqual(future)
})

test('after a backup dated in the future, a failure is not hidden by its time', async () => {
  using folder = temporaryFolder()
  const { database, backups } = await prepare(folder, 20)
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

  expect(scheduled.stats).toMatchObject({ lastAt: 0, lastBytes: 0 })
})

test('sets no timer for longer than a timer can run', async () => {
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
  using folder = temporaryFolder()
  const { database, backups } = await prepare(folder, 5000)
  writeSync(openSync(database, 'r+'), Buffer.alloc(4096, 0xa5), 0, 4096, 4096 * 20)
  const old = [nameAgo(9000), nameAgo(5000)]
  for (const name of old) writeFileSync(`${backups}/${name}`, 'sound')

  const args = schedule(backups, '--backup-every', '1h', '--backup-keep', '1')
  await using daemon = await startDaemon({ database, args })
  const failed = await daemon.event('backup-failed')

  expect(failed).toMatchObject({ level: 'error', retrySeconds: 3600 })
  expect(String(failed.detail)).toContain('plants.db is damaged')
  expect(readdirSync(backups).sort()).toEqual(old.sort())
  expect(await daemon.metric('plantstore_backup_failures_total')).toBe(1)
  expect((await daemon.fetch('/health')).status).toBe(200)
})

test('continues after the folder was missing for a while', async () => {
  using folder = temporaryFolder()
  const { database, backups } = await prepare(folder, 20)

  await using daemon = await startDaemon({
    database,
    args: schedule(backups, '--backup-every', '1s'),
  })
  await daemon.event('backup-made')
  renameSync(backups, folder.file('away'))
  await daemon.event('backup-failed')
  expect((await daemon.fetch('/health')).status).toBe(200)
  expect((await daemon.create('{"id":777,"name":"a"}')).status).toBe(200)
  const before = eventsOf(daemon, 'backup-made').length
  renameSync(folder.file('away'), backups)
  await daemon.prints(() => eventsOf(daemon, 'backup-made').length > before)

  expect(await daemon.metric('plantstore_backup_failures_total')).toBeGreaterThan(0)
})

test.skipIf(!canMount)('a full folder is a failure, and old backups stay', async () => {
  using folder = temporaryFolder()
  const { database, backups } = await prepare(folder, 20)
  const mounted = Bun.spawnSync(['mount', '-t', 'tmpfs', '-o', 'size=64k', 'tmpfs', backups])
  expect(mounted.exitCode).toBe(0)
  try {
    const old = nameAgo(9000)
    writeFileSync(`${backups}/${old}`, 'sound')
    writeFileSync(`${backups}/filler`, 'x'.repeat(40_000))

    const args = schedule(backups, '--backup-every', '1s', '--backup-keep', '1')
    await using daemon = await startDaemon({ database, args })
    const { detail } = await daemon.event('backup-failed')
    expect(String(detail)).toMatch(/cannot write .*: disk full/)
    expect(readdirSync(backups).sort()).toEqual(['filler', old])
    expect((await daemon.create('{"id":777,"name":"a"}')).status).toBe(200)
    rmSync(`${backups}/filler`)
    await daemon.event('backup-made')
    await until('the removal of the old backup', () => !existsSync(`${backups}/${old}`))
    await daemon.stop()
  } finally {
    Bun.spawnSync(['umount', '-l', backups])
  }
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
  using folder = temporaryFolder()
  const { database, backups } = await prepare(folder, 200_000)
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
  const { failures } = scheduled.stats
  await until('the next event', () => events.length > 1)
  await scheduled.stop()

  expect(events[0]).toMatchObject({ event: 'backup-failed', retrySeconds: 1 })
  expect(events[0]?.detail).toBe('the backup process ended with SIGKILL')
  expect(failures).toBe(1)
  expect(events[1]).toMatchObject({ event: 'backup-made' })
  expect(existsSync(`/proc/${child}`)).toBe(false)
})

test('a stop ends a backup that is under way, and leaves nothing of it', async () => {
  using folder = temporaryFolder()
  const { database, backups } = await prepare(folder, 200_000)

  await using daemon = await startDaemon({ database, args: schedule(backups) })
  const child = await freezeBackup(daemon, backups)
  expect(readFileSync(`/proc/${child}/environ`, 'utf8')).not.toContain(TOKEN)
  const code = await daemon.stop('SIGTERM')

  expect(code).toBe(0)
  expect(existsSync(`/proc/${child}`)).toBe(false)
  expect(readdirSync(backups)).toEqual([])
  expect(readdirSync(folder.path).sort()).toEqual(['backups', 'plants.db'])
  expect(eventsOf(daemon, 'backup-failed')).toEqual([])
})

test('after a kill -9 of everything, the next run removes what a backup has left', async () => {
  using folder = temporaryFolder()
  const { database, backups } = await prepare(folder, 200_000)
  {
    await using daemon = await startDaemon({ database, args: schedule(backups) })
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

  await using daemon = await startDaemon({ database, args: schedule(backups) })
  await daemon.event('backup-made')

  expect(leftoversIn(backups)).toEqual([])
  expect(backupsIn(backups)).toHaveLength(1)
})

test('after a kill -9 of the daemon, its backup does not keep the next one from serving', async () => {
  using folder = temporaryFolder()
  const { database, backups } = await prepare(folder, 200_000)
  const first = await startDaemon({ database, args: schedule(backups) })
  const child = await freezeBackup(first, backups)
  await first.kill()

  await using daemon = await startDaemon({ database, args: schedule(backups) })
  await daemon.event('backup-made')
  process.kill(child, 'SIGCONT')
  await until('no unfinished backup left', () => leftoversIn(backups).length === 0)
  await daemon.stop()

  expect(backupsIn(backups).length).toBeGreaterThanOrEqual(1)
  for (const name of backupsIn(backups)) expect((await check(`${backups}/${name}`)).code).toBe(0)
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
  [['--backup-folder', 'FOLDER/none'], 1, 'none does not exist'],
  [
    ['--backup-folder', 'FOLDER', '--database', `FOLDER/${'x'.repeat(240)}`],
    1,
    'the name of the database is too long for backups, which add 20 bytes',
  ],
  [['--backup-folder', 'FOLDER/plants.db'], 1, 'plants.db is not a folder'],
])('refuses %j in one line', async (args, code, message) => {
  using folder = temporaryFolder()
  writeFileSync(folder.file('plants.db'), '')
  const words = args.map((it) => it.replace('FOLDER', folder.path))

  const result = await runProgram(['serve', '--port', '0', ...words], { cwd: folder.path })

  expect(result.code).toBe(code)
  expect(result.err).toContain(message)
  expect(result.err.trim().split('\n')).toHaveLength(1)
  expect(statSync(folder.file('plants.db')).size).toBe(0)
})

test('refuses a folder that this user cannot write, in one line', async () => {
  using folder = temporaryFolder()
  chmodSync(folder.path, 0o555)

  const words = ['serve', '--port', '0', '--backup-folder', folder.path]
  const { code, err } = await runProgram(words, { ...asNobody, cwd: '/' })

  expect(code).toBe(1)
  expect(err).toBe(`plantstore: cannot write to folder ${folder.path}: permission denied\n`)
})
