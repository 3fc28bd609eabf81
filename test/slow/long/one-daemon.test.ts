import { Database } from 'bun:sqlite'
import { expect, test } from 'bun:test'
import {
  copyFileSync,
  existsSync,
  linkSync,
  readFileSync,
  renameSync,
  rmSync,
  statSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs'
import { check } from '../../harness/commands'
import { type Daemon, runProgram, startDaemon, startTemporary } from '../../harness/daemon'
import { expectError, storedPlants } from '../../harness/plants'
import { until } from '../../harness/until'

test('a daemon refuses a file that another one serves, by whatever name', async () => {
  await using daemon = await startTemporary()
  const { database, folder } = daemon
  linkSync(database, folder.file('hard.db'))
  symlinkSync(database, folder.file('soft.db'))

  const refusals = ['plants.db', 'hard.db', 'soft.db'].map((name) =>
    runProgram(['serve', '--port', '0', '--database', folder.file(name)]),
  )

  for (const { out, err, code } of await Promise.all(refusals)) {
    expect({ out, code }).toEqual({ out: '', code: 1 })
    expect(err).toMatch(/^plantstore: another plantstore serves .+; stop it, .*--database\n$/)
  }
  expect((await daemon.create('{"id":1,"name":"Rose"}')).status).toBe(200)
})

/** Expects that nothing is acknowledged any more, nor health claimed. */
async function expectUnwell(daemon: Daemon): Promise<void> {
  // Health finds it without a change. A probe may have been answered before, and is shared for a while.
  await until('bad health', async () => (await daemon.fetch('/health')).status !== 200)
  for (let id = 3; id < 6; id++) {
    await expectError(await daemon.create(`{"id":${id},"name":"Lily"}`), 50302)
    await expectError(await daemon.fetch('/health'), 50302)
  }
  const { port } = new URL(daemon.url)
  expect((await runProgram(['health', '--port', port])).code).toBe(1)
  expect(daemon.events().filter(({ level }) => level === 'error')).not.toEqual([])
}

test.each([
  ['is deleted', (file: string) => rmSync(file)],
  [
    'is deleted with the files beside it',
    (file: string) => {
      for (const end of ['', '-wal', '-shm']) rmSync(`${file}${end}`, { force: true })
    },
  ],
  [
    'is replaced by a copy',
    (file: string) => {
      copyFileSync(file, `${file}.copy`)
      renameSync(`${file}.copy`, file)
    },
  ],
  [
    'is replaced by something else',
    (file: string) => {
      writeFileSync(`${file}.new`, 'no database')
      renameSync(`${file}.new`, file)
    },
  ],
  ['loses its write-ahead log', (file: string) => rmSync(`${file}-wal`)],
])('a daemon acknowledges nothing once its file %s', async (_, interfere) => {
  await using daemon = await startTemporary()
  const { database } = daemon
  await daemon.create('{"id":1,"name":"Rose"}')

  interfere(database)

  await expectUnwell(daemon)
  await daemon.stop()
})

/** Writes to a database as another program does, with its own connection. */
function insertByHand(database: string, id: number): void {
  const db = new Database(database)
  db.run('INSERT INTO plants VALUES (?, ?, NULL)', [id, 'Rose'])
  db.run('UPDATE change_log SET plants = plants + 1')
  db.close(true)
}

test.each(['another change', 'no other change'])(
  'a daemon loses nothing if the index of its log is removed, with %s before it stops',
  async (change) => {
    await using daemon = await startTemporary()
    const { database } = daemon
    await daemon.create('{"id":1,"name":"Rose"}')

    rmSync(`${database}-shm`)
    insertByHand(database, 2)
    if (change === 'another change') {
      await expectError(await daemon.create('{"id":3,"name":"Rose"}'), 50302)
      await daemon.event('database-moved')
    }
    expect(await daemon.stop()).toBe(0)

    expect((await check(database)).out).toStartWith('ok: 2 plants')
    await using again = await startDaemon({ database })
    expect((await again.create('{"id":3,"name":"Rose"}')).status).toBe(200)
    expect((await again.fetch('/plants/2')).status).toBe(200)
  },
)

// What writes waits for a lock that it cannot get; what reads looks for the file that is missing.
const IN_USE = /is locked by another program\n$|is in use without its -wal or -shm; .+\n$/

const LOST_FILES = [
  ['log', ['-wal']],
  ["log's index", ['-shm']],
  ['log and its index', ['-wal', '-shm']],
] as const

/** Another program with an open connection, as SQLite's shell has between two commands. */
async function idleReader(database: string) {
  const script =
    "const {Database}=require('bun:sqlite');const db=new Database(process.argv[1]);console.log(db.query('SELECT count(*) FROM plants').get());process.stdin.once('data',()=>{db.close();process.exit()})"
  const reader = Bun.spawn([process.execPath, '-e', script, database], {
    stdin: 'pipe',
    stdout: 'pipe',
  })
  await reader.stdout.getReader().read()
  return reader
}

test.each(
  LOST_FILES.flatMap(([name, suffixes]) => [
    [name, 'closes it', suffixes] as const,
    [name, 'is killed', suffixes] as const,
  ]),
)(
  'a daemon loses nothing if its %s is removed while another program has the database open, and %s',
  async (_, end, suffixes) => {
    await using daemon = await startTemporary()
    const { database } = daemon
    await daemon.create('{"id":1,"name":"Rose"}')
    const reader = await idleReader(database)
    await daemon.create('{"id":2,"name":"Lily"}')

    for (const suffix of suffixes) rmSync(database + suffix)
    await expectError(await daemon.create('{"id":3,"name":"Oak"}'), 50302)
    await daemon.event('database-moved')
    expect(await daemon.stop()).toBe(0)
    const early = await runProgram(['serve', '--port', '0', '--database', database])
    expect(early.code).toBe(1)
    expect(early.err).toBe(`plantstore: ${database} is locked by another program\n`)
    if (end === 'is killed') reader.kill('SIGKILL')
    else reader.stdin.write('\n')
    await reader.exited
    await reader.stdin.end()
    await using again = await startDaemon({ database })
    expect((await again.create('{"id":3,"name":"Oak"}')).status).toBe(200)

    await again.stop('SIGKILL')
    expect(storedPlants(database).map(({ id }) => id)).toEqual([1n, 2n, 3n])
  },
)

test.each(LOST_FILES)(
  'commands refuse a database in use whose %s was removed',
  async (_, suffixes) => {
    await using daemon = await startTemporary()
    const { database, folder } = daemon
    await daemon.create('{"id":1,"name":"Rose"}')
    for (const suffix of suffixes) rmSync(database + suffix)

    const commands = [
      ['import', '-', '--format', 'ndjson'],
      ['export', '-', '--format', 'ndjson'],
      ['backup', folder.file('copy.db')],
      ['check'],
      ['token', 'create', 'phone'],
    ]
    const run = (words: string[]) =>
      runProgram([...words, '--database', database], { stdin: '{"id":2,"name":"Rose"}' })
    for (const { out, err, code } of await Promise.all(commands.map(run))) {
      expect({ out, code }).toEqual({ out: '', code: 1 })
      expect(err).toMatch(IN_USE)
    }
    await daemon.stop()
    expect((await check(database)).out).toStartWith('ok: 1 plant,')
  },
)

/**
 * The locks that SQLite holds for a process on a file (fcntl(2)): without them another process may take its WAL away.
 */
function locksOf(pid: number, file: string): string[] {
  const { ino } = statSync(file)
  const locks = readFileSync('/proc/locks', 'utf8').split('\n')
  return locks
    .filter((line) => line.includes('POSIX') && line.includes(` ${pid} `))
    .filter((line) => line.includes(`:${ino} `))
    .map((line) => line.replace(/^\d+: /, ''))
}
test.skipIf(!existsSync('/proc/locks'))(
  'a daemon keeps its locks on the file over a refusal',
  async () => {
    await using daemon = await startTemporary()
    const { database } = daemon
    await daemon.create('{"id":1,"name":"Rose"}')
    const held = locksOf(daemon.pid, database)
    expect(held).not.toEqual([])
    const other = new Database(database)

    other.run('CREATE TRIGGER t AFTER INSERT ON plants BEGIN SELECT 1; END')
    await expectError(await daemon.create('{"id":2,"name":"Lily"}'), 50302)
    other.run('DROP TRIGGER t')
    other.close()
    await daemon.event('writable-again')

    expect((await daemon.create('{"id":3,"name":"Oak"}')).status).toBe(200)
    const again = await runProgram(['serve', '--port', '0', '--database', database])
    expect(again.code).toBe(1)
    expect(locksOf(daemon.pid, database)).toEqual(held)
    await daemon.stop()
    expect(storedPlants(database).map(({ id }) => id)).toEqual([1n, 3n])
  },
)
