import { Database } from 'bun:sqlite'
import { expect, setDefaultTimeout, test } from 'bun:test'
import {
  chmodSync,
  chownSync,
  copyFileSync,
  existsSync,
  linkSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  rmSync,
  statSync,
  symlinkSync,
  truncateSync,
  writeFileSync,
} from 'node:fs'
import { dirname } from 'node:path'
import { APPLICATION_ID } from '../../../src/engine/sqlite/schema'
import {
  expectSound,
  fingerprint,
  importLines,
  lines,
  refusalOf,
  storeFolder,
} from '../../harness/commands'
import {
  PATIENCE_MS,
  type RunOptions,
  runProgram,
  startDaemon,
  temporaryFolder,
} from '../../harness/daemon'
import { overwrite } from '../../harness/damage'
import { OTHER_COLUMNS } from '../../harness/fields'
import { storedPlants } from '../../harness/plants'
import { testUid, unprivileged, unprivilegedUid } from '../../harness/unprivileged'

setDefaultTimeout(PATIENCE_MS)

const asNobody = unprivileged()

const serve = (database: string, options: RunOptions = {}) =>
  runProgram(['serve', '--port', '0', '--database', database], options)

/** Expects one line on standard error that names what is wrong and the fix. */
function expectLine(
  result: { out: string; err: string; code: number },
  code: number,
  ...parts: string[]
) {
  const refusal = refusalOf(result, code)
  for (const part of parts) expect(refusal).toContain(part)
}

// Every command that opens a database.
const commands: [string[]][] = [
  [['serve', '--port', '0']],
  [['import', '-', '--format', 'ndjson']],
  [['export', '-', '--format', 'ndjson']],
  [['check']],
  [['backup', 'NEW']],
  [['token', 'create', 'phone']],
  [['token', 'list']],
  [['restore', 'BACKUP']],
]

/**
 * A database whose newest plants are only in its write-ahead log, a backup of it, and the words of a command with
 * their paths.
 */
async function killedStore(folder: ReturnType<typeof temporaryFolder>) {
  const [database, backup] = [folder.file('plants.db'), folder.file('backup.db')]
  const daemon = await startDaemon({ database })
  await runProgram(['backup', backup, '--database', database])
  for (let id = 0; id < 20; id++) await daemon.create(id)
  await daemon.stop('SIGKILL')
  const paths: Record<string, string> = { BACKUP: backup, NEW: folder.file('new.db') }
  return { database, backup, place: (words: string[]) => words.map((word) => paths[word] ?? word) }
}

// A restore keeps the replaced file, whatever names it has.
const linked = commands.filter(([[command]]) => command !== 'restore')

test.each(linked)('%j refuses a file with more than one link', async (words) => {
  using folder = temporaryFolder()
  const { database, place } = await killedStore(folder)
  mkdirSync(folder.file('snapshot'))
  const link = folder.file('snapshot/plants.db')
  linkSync(database, link)
  const before = filesIn(folder.path)

  const run = () => runProgram([...place(words), '--database', link], { stdin: lines(3, 5) })
  expectLine(await run(), 1, `${link} has several names`, `find DIR -samefile ${link}`)
  expect(filesIn(folder.path)).toEqual(before)

  rmSync(database)
  if (words[0] !== 'serve') expect((await run()).code).toBe(0)
})

test('restore replaces a file with another link, which keeps all plants and the log', async () => {
  using folder = temporaryFolder()
  const { database, backup } = await killedStore(folder)
  const link = folder.file('link.db')
  linkSync(database, link)

  const { out, code } = await runProgram(['restore', backup, '--database', link])

  expect(code).toBe(0)
  await expectSound(link, 0)
  expect(statSync(database).nlink).toBe(2)
  rmSync(/kept as (.+)\n/.exec(out)?.[1] ?? '')
  await expectSound(database, 20)
})

test('restore refuses a backup with more than one link', async () => {
  using folder = temporaryFolder()
  const { database, backup } = await killedStore(folder)
  linkSync(database, folder.file('link.db'))
  const before = filesIn(folder.path)

  const result = await runProgram(['restore', database, '--database', backup])
  expectLine(result, 1, `${database} has several names`)
  expect(filesIn(folder.path)).toEqual(before)
})

/** The files of a folder; not its time, which a removed temporary file changes. */
const filesIn = (folder: string) => ({ ...fingerprint(folder), '.': null })

// In a mount namespace of its own: no mount outlives the command.
const canMount = Bun.spawnSync(['unshare', '-rm', 'true']).success

const mounting = (from: string, at: string) =>
  ['unshare', '-rm', 'sh', '-c', 'mount --bind "$0" "$1" && shift && exec "$@"', from, at] as const

test.skipIf(!canMount)('every command refuses a file that is mounted', async () => {
  using folder = temporaryFolder()
  const { database, place } = await killedStore(folder)
  mkdirSync(folder.file('data'))
  const at = folder.file('data/plants.db')
  writeFileSync(at, '')
  symlinkSync(at, folder.file('link.db'))
  const before = filesIn(folder.path)

  for (const [words] of commands) {
    const args = [...place(words), '--database', folder.file('link.db')]
    const result = await runProgram(args, { stdin: lines(30, 33), under: mounting(database, at) })
    expectLine(result, 1, `${at} has several names`, 'mount the folder')
    expect(filesIn(folder.path)).toEqual(before)
  }
})

test.skipIf(!canMount).each(['-wal', '-shm', '-journal'])(
  'every command refuses a database whose %s is mounted',
  async (suffix) => {
    using folder = temporaryFolder()
    const { database, place } = await killedStore(folder)
    const [at, other] = [database + suffix, folder.file('other')]
    // The mount point stays, as in the folder that a container leaves.
    if (!existsSync(at)) writeFileSync(at, '')
    copyFileSync(at, other)
    const before = filesIn(dirname(database))

    for (const [words] of commands) {
      const args = [...place(words), '--database', database]
      const result = await runProgram(args, { stdin: lines(30, 33), under: mounting(other, at) })
      expectLine(result, 1, `${database} has several names`, 'mount the folder')
      expect(filesIn(dirname(database))).toEqual(before)
    }
  },
)

test.skipIf(!canMount)('a database in a folder that is mounted is like any other', async () => {
  using folder = temporaryFolder()
  const { database } = await killedStore(folder)
  mkdirSync(folder.file('data'))
  const args = ['check', '--database', folder.file('data/plants.db')]

  const { out } = await runProgram(args, {
    under: mounting(dirname(database), folder.file('data')),
  })
  expect(out).toStartWith('ok: 20 plants')
})

test('a new database is readable by its owner alone, with any SQLite tool', async () => {
  using folder = storeFolder()
  const { database } = folder
  const daemon = await folder.serve()
  await daemon.create(1)
  for (const name of readdirSync(folder.path)) {
    expect({ name, mode: statSync(folder.file(name)).mode & 0o077 }).toEqual({ name, mode: 0 })
  }
  await daemon.stop()

  expect(readdirSync(folder.path).sort()).toEqual(['plants.db'])
  expect(storedPlants(database)).toEqual([{ id: 1n, name: 'Rose', tag: null }])
  const db = new Database(database, { readonly: true })
  const { sql } = db.query<{ sql: string }, [string]>(SCHEMA).get('plants') ?? { sql: '' }
  db.close(true)
  expect(sql).toBe(
    `CREATE TABLE plants (id INTEGER PRIMARY KEY, name TEXT NOT NULL, tag TEXT${OTHER_COLUMNS}) STRICT`,
  )
})
const SCHEMA = 'SELECT sql FROM sqlite_schema WHERE name = ?'

test.skipIf(testUid !== 0)(
  'a database created by root belongs to the owner of its folder, the target of a link does not',
  async () => {
    using folder = temporaryFolder()
    const [database, target] = [folder.file('data/plants.db'), folder.file('target.db')]
    mkdirSync(folder.file('data'))
    chownSync(folder.file('data'), 65_534, 65_533)
    symlinkSync(target, folder.file('data/link.db'))

    await importLines(database, lines(0, 3))
    await importLines(folder.file('data/link.db'), lines(0, 3))

    const ownerOf = (path: string) => {
      const { uid, gid, mode } = statSync(path)
      return { uid, gid, mode: mode & 0o777 }
    }
    expect(ownerOf(database)).toEqual({ uid: 65_534, gid: 65_533, mode: 0o600 })
    expect(ownerOf(target)).toEqual({ uid: 0, gid: 0, mode: 0o600 })
  },
)

test('a file whose first start lost power can be opened, wherever its header is torn', async () => {
  using folder = storeFolder()
  const [making, database] = [folder.file('making.db'), folder.database]
  // The journal of a transaction that has not ended, and the pages that it was to write.
  const db = new Database(making)
  db.run('PRAGMA cache_size = 1')
  db.run('BEGIN')
  db.run(`PRAGMA application_id = ${APPLICATION_ID}`)
  for (let n = 0; n < 20; n++) db.run(`CREATE TABLE t${n} (a)`)
  const journal = readFileSync(`${making}-journal`)
  db.run('COMMIT')
  db.close()
  const written = readFileSync(making)
  for (const torn of [0, 10, 18, 40, 70, 80, 100, 512]) {
    writeFileSync(database, Buffer.concat([written.subarray(0, torn), Buffer.alloc(4096 - torn)]))
    writeFileSync(`${database}-journal`, journal)

    const { code, err } = await importLines(database, lines(0, 3))
    expect({ torn, code, err }).toMatchObject({ torn, code: 0 })
    expect(storedPlants(database)).toHaveLength(3)
    rmSync(database)
  }
})

test('a folder in place of a file is refused', async () => {
  using folder = temporaryFolder()

  expectLine(await serve(folder.path), 1, `${folder.path} is a folder`, '--database')
  expect(readdirSync(folder.path)).toEqual([])
})

test.each([[['check']], [['export']], [['backup', 'copy.db']], [['token', 'list']]])(
  '%j refuses an empty file',
  async (words) => {
    using folder = storeFolder()
    writeFileSync(folder.database, '')

    expectLine(await folder.run(words), 1, 'is not a plantstore database', '--database')
    expect(readdirSync(folder.path)).toEqual(['plants.db'])
  },
)

test('a database that is named by its descriptor is refused: its log is not found beside it', async () => {
  using folder = temporaryFolder()
  const { database } = await killedStore(folder)
  const under = ['bash', '-c', `exec "$0" "$@" < ${database}`]

  const result = await runProgram(['check', '--database', '/dev/stdin'], { under })
  expectLine(result, 1, 'is not a regular file', '--database')
})

const canTrace = Bun.which('strace') !== null

test.skipIf(!canTrace)(
  'a command reads the disk anew, unless a daemon has done so and serves',
  async () => {
    using folder = storeFolder()
    await folder.fill(3)
    const trace = folder.file('trace')
    const under = ['strace', '-f', '-y', '-qq', '-o', trace, '-e', 'trace=fadvise64']
    const dropped = async () => {
      expect((await folder.run(['token', 'prune'], { under })).code).toBe(0)
      return readFileSync(trace, 'utf8').includes('plants.db>')
    }

    expect(await dropped()).toBeTrue()
    await using _daemon = await folder.serve()
    expect(await dropped()).toBeFalse()
  },
)

test('a file in place of a folder is refused', async () => {
  using folder = temporaryFolder()
  writeFileSync(folder.file('file'), 'text')

  expectLine(await serve(folder.file('file/plants.db')), 1, '--database')
  expect(readFileSync(folder.file('file'), 'utf8')).toBe('text')
})

/** Expects that a file is refused, and left as it was, with nothing new in its folder. */
async function expectUntouched(
  file: string,
  folder: string,
  code: number,
  ...parts: string[]
): Promise<void> {
  const before = readFileSync(file)
  const names = readdirSync(folder)
  expectLine(await serve(file), code, file, ...parts)
  const token = await runProgram(['token', 'create', 'x', '--database', file])
  expectLine(token, code, file, ...parts)
  expect(readFileSync(file).equals(before)).toBeTrue()
  expect(readdirSync(folder)).toEqual(names)
}

test.each([
  ['a text', 'This is a letter, and no database.\n'.repeat(10)],
  ['a few bytes', 'x'],
  ['zeros', '\0'.repeat(8192)],
  ['the first bytes of a database', 'SQLite format 3\0'],
])('a file that is not a database is refused: %s', async (_, content) => {
  using folder = temporaryFolder()
  const file = folder.file('plants.db')
  writeFileSync(file, content)

  await expectUntouched(file, folder.path, 1, 'is not a plantstore database', '--database')
})

test('a file that only has the name of a journal is left alone', async () => {
  using folder = temporaryFolder()
  const file = folder.file('notes')
  writeFileSync(file, 'a note')
  writeFileSync(`${file}-journal`, 'a diary')

  await expectUntouched(file, folder.path, 1, 'is not a plantstore database', '--database')
})

test.each(['deleted', 'emptied'])(
  'the WAL of a database that was %s after a crash is kept',
  async (how) => {
    using folder = storeFolder()
    const file = folder.database
    const daemon = await startDaemon({ database: file })
    await daemon.create(1)
    await daemon.stop('SIGKILL')
    const database = readFileSync(file)
    const wal = readFileSync(`${file}-wal`)
    if (how === 'deleted') rmSync(file)
    else truncateSync(file)

    expectLine(await serve(file), 74, 'its write-ahead log has changes', 'plantstore restore')
    expect(readFileSync(`${file}-wal`).equals(wal)).toBeTrue()
    expect(existsSync(file)).toBe(how === 'emptied')
    writeFileSync(file, database)
    await expectSound(file, 1)
  },
)

test.each([
  [0, 'DELETE'],
  [0x1234, 'DELETE'],
  // A journal that stays beside the file, and means nothing.
  [0, 'PERSIST'],
  [0x1234, 'PERSIST'],
  [APPLICATION_ID, 'DELETE'],
])('the database of another program is refused: %d, %s', async (id, journal) => {
  using folder = temporaryFolder()
  const file = folder.file('theirs.db')
  const db = new Database(file)
  db.run(`PRAGMA journal_mode = ${journal}`)
  db.run('CREATE TABLE plants (id INTEGER PRIMARY KEY, name TEXT NOT NULL, tag TEXT) STRICT')
  db.run(`PRAGMA application_id = ${id}`)
  db.close(true)

  await expectUntouched(file, folder.path, 1, 'is not a plantstore database', '--database')
})

/** A database with one plant in it, made by the program. */
async function makeDatabase(file: string): Promise<void> {
  const daemon = await startDaemon({ database: file })
  await daemon.create(1)
  await daemon.stop()
}

test.each(['DELETE', 'PERSIST'])('a newer schema is refused: %s', async (journal) => {
  using folder = temporaryFolder()
  const file = folder.file('plants.db')
  await makeDatabase(file)
  const db = new Database(file)
  db.run(`PRAGMA journal_mode = ${journal}`)
  db.run('PRAGMA user_version = 999')
  db.close(true)

  await expectUntouched(file, folder.path, 1, '999', 'newer plantstore')
})

test('the refusal of an older schema names the build that exports it', async () => {
  using folder = storeFolder()
  const file = folder.database
  await makeDatabase(file)
  const db = new Database(file)
  db.run('PRAGMA user_version = 7')
  db.close(true)

  await expectUntouched(file, folder.path, 1, 'before 1.0.0', 'export it with the build of commit')
  const backup = await runProgram(['backup', folder.file('copy.db'), '--database', file])
  expectLine(backup, 1, 'export it with the build of commit')
})

test('the WAL of a database behind a link is monitored', async () => {
  using folder = temporaryFolder()
  mkdirSync(folder.file('data'))
  symlinkSync(folder.file('data/plants.db'), folder.file('link.db'))
  await using daemon = await startDaemon({ database: folder.file('link.db') })
  expect((await daemon.create(1)).status).toBe(200)

  expect(await (await daemon.fetch('/metrics')).text()).toMatch(/^plantstore_wal_bytes [1-9]/m)
  rmSync(folder.file('data/plants.db-wal'))
  expect((await daemon.create(2)).status).toBe(503)
})

const random = (bytes: number) => crypto.getRandomValues(new Uint8Array(bytes))

test.each([
  ['whose end is missing', (file: string) => truncateSync(file, 4096)],
  ['that is cut within its first page', (file: string) => truncateSync(file, 1000)],
  ['whose schema is overwritten', (file: string) => overwrite(file, 100, random(3996))],
])('a database %s is refused as damaged', async (_, damage) => {
  using folder = temporaryFolder()
  const file = folder.file('plants.db')
  await makeDatabase(file)
  damage(file)

  await expectUntouched(file, folder.path, 74, 'damaged', 'plantstore restore')
})

test('a write-ahead log of random bytes is ignored', async () => {
  using folder = temporaryFolder()
  const file = folder.file('plants.db')
  await makeDatabase(file)
  writeFileSync(`${file}-wal`, random(1_000_000))

  await using daemon = await startDaemon({ database: file })
  expect((await daemon.create('{"id":2,"name":"Lily"}')).status).toBe(200)
  await daemon.stop()
  expect(storedPlants(file)).toHaveLength(2)
})

test('a file without write access is refused', async () => {
  using folder = temporaryFolder()
  const file = folder.file('plants.db')
  await makeDatabase(file)
  chmodSync(folder.path, 0o777)
  chmodSync(file, 0o444)
  const before = readFileSync(file)
  const names = readdirSync(folder.path)

  expectLine(
    await serve(file, asNobody),
    1,
    `cannot write ${file}: user ${unprivilegedUid} needs access`,
  )
  expect(readFileSync(file).equals(before)).toBeTrue()
  expect(readdirSync(folder.path)).toEqual(names)
})

/** Makes a database in a folder that an unprivileged user may not write; returns its path. */
async function makeClosed(folder: ReturnType<typeof temporaryFolder>, mode: number) {
  mkdirSync(folder.file('closed'))
  const file = folder.file('closed/plants.db')
  await makeDatabase(file)
  chmodSync(folder.path, 0o755)
  chmodSync(file, mode)
  chmodSync(folder.file('closed'), 0o555)
  return file
}

test('a folder without write access is refused', async () => {
  using folder = temporaryFolder()
  const file = await makeClosed(folder, 0o666)
  const before = readFileSync(file)

  expectLine(await serve(file, asNobody), 1, 'cannot write', 'closed', 'its folder')
  expect(readFileSync(file).equals(before)).toBeTrue()
})

test('the message says why a token cannot be stored without write access', async () => {
  using folder = temporaryFolder()
  const file = await makeClosed(folder, 0o444)

  const args = ['token', 'create', 'phone', '--database', file]
  expectLine(await runProgram(args, asNobody), 1, `cannot write ${file}`)
})

/** Runs the program as a user who may not search the folder `secret`. */
async function runOutside(folder: ReturnType<typeof temporaryFolder>, args: readonly string[]) {
  chmodSync(folder.path, 0o755)
  chmodSync(folder.file('secret'), 0)
  const result = await runProgram(args, asNobody)
  chmodSync(folder.file('secret'), 0o700)
  return result
}

test.each([
  [['check']],
  [['token', 'list']],
  [['export', '-']],
  [['backup', 'copy.db']],
  [['serve', '--port', '0']],
])('%j in a folder of another user says what cannot be done', async (words) => {
  using folder = temporaryFolder()
  mkdirSync(folder.file('secret'))
  const database = folder.file('secret/plants.db')
  await makeDatabase(database)

  const result = await runOutside(folder, [...words, '--database', database])
  expectLine(result, 1, `cannot open ${folder.file('secret')}`)
})

test('the message for an export into a folder of another user does not mention reading', async () => {
  using folder = temporaryFolder()
  const database = folder.file('plants.db')
  await makeDatabase(database)
  chmodSync(database, 0o644)
  mkdirSync(folder.file('secret'))
  const target = folder.file('secret/plants.csv')

  const result = await runOutside(folder, ['export', target, '--database', database])
  expectLine(result, 1, `cannot open ${target}: permission denied`)
})

// Bun's SQLite would open a file without the space; the other is a file beside a database.
test.each([
  [['serve', '--port', '0']],
  [['import', '-', '--format', 'ndjson']],
  [['token', 'prune']],
  [['restore', 'BACKUP']],
])('%j refuses a path that ends in white space or -wal, and creates no file', async (words) => {
  using folder = storeFolder()
  const { database } = folder
  await folder.fill(3)
  await folder.run(['backup', folder.file('backup.db')])
  const names = readdirSync(folder.path)

  const args = words.map((word) => (word === 'BACKUP' ? folder.file('backup.db') : word))
  for (const path of [`${database} `, `${database}-wal`]) {
    const result = await runProgram([...args, '--database', path], { stdin: lines(3, 5) })
    expectLine(result, 1, `${path}" cannot be the name of a database`)
  }
  expect(readdirSync(folder.path)).toEqual(names)
})

test('a link to a path that ends in white space is refused', async () => {
  using folder = temporaryFolder()
  const link = folder.file('link.db')
  writeFileSync(folder.file('plants.db '), '')
  symlinkSync(folder.file('plants.db '), link)
  expectLine(await serve(link), 1, 'cannot be the name of a database')
})
