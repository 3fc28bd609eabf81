import { Database } from 'bun:sqlite'
import { expect, test } from 'bun:test'
import {
  chmodSync,
  chownSync,
  existsSync,
  lstatSync,
  mkdirSync,
  openSync,
  readdirSync,
  readFileSync,
  rmSync,
  statSync,
  symlinkSync,
  writeFileSync,
  writeSync,
} from 'node:fs'
import { replaceDatabase } from '../src/engine/sqlite/backup'
import { produceFile } from '../src/files/replace-file'
import { runProgram, startDaemon, temporaryFolder } from './harness/daemon'

const lines = (from: number, to: number) =>
  Array.from({ length: to - from }, (_, i) => `{"id":${from + i},"name":"plant ${from + i}"}`).join(
    '\n',
  )

const restore = (copy: string, database: string) =>
  runProgram(['restore', copy, '--database', database])

const keptAs = (out: string) => /kept as (.+)\n/.exec(out)?.[1] ?? ''

const importLines = (database: string, stdin: string) =>
  runProgram(['import', '-', '--format', 'ndjson', '--database', database], { stdin })

test('backs up a database while a daemon serves it, tokens included', async () => {
  using folder = temporaryFolder()
  const database = folder.file('plants.db')
  const copy = folder.file('copy.db')
  await runProgram(['token', 'create', 'laptop', '--database', database])
  await using daemon = await startDaemon({ database })
  await daemon.create('{"id":1,"name":"a"}')

  const backup = await runProgram(['backup', copy, '--database', database])
  const check = await runProgram(['check', '--database', copy])

  expect(backup).toEqual({ out: `backed up 1 plants to ${copy}\n`, err: '', code: 0 })
  expect(check.out).toStartWith('ok: 1 plants, 1 tokens, ')
  expect(statSync(copy).mode & 0o777).toBe(0o600)
  expect(readdirSync(folder.path).filter((name) => name.includes('.tmp'))).toEqual([])
})

test('never writes over a file with a backup', async () => {
  using folder = temporaryFolder()
  const copy = folder.file('copy.db')
  await importLines(folder.file('plants.db'), lines(0, 3))
  writeFileSync(copy, 'precious')

  const { err, code } = await runProgram(['backup', copy, '--database', folder.file('plants.db')])

  expect(code).toBe(2)
  expect(err).toContain('exists')
  expect(readFileSync(copy, 'utf8')).toBe('precious')
})

test('restores a backup, and keeps what it replaces', async () => {
  using folder = temporaryFolder()
  const database = folder.file('plants.db')
  await importLines(database, lines(0, 3))
  await runProgram(['backup', folder.file('copy.db'), '--database', database])
  await importLines(database, lines(3, 10))

  const { out, code } = await restore(folder.file('copy.db'), database)

  expect(code).toBe(0)
  const kept = keptAs(out)
  expect((await runProgram(['check', '--database', database])).out).toStartWith('ok: 3 plants')
  expect((await runProgram(['check', '--database', kept])).out).toStartWith('ok: 10 plants')
})

test('restores in the place of a damaged database, whose log it does not take over', async () => {
  using folder = temporaryFolder()
  const database = folder.file('plants.db')
  await importLines(database, lines(0, 3))
  await runProgram(['backup', folder.file('copy.db'), '--database', database])
  writeFileSync(database, 'no longer a database')
  writeFileSync(`${database}-wal`, 'nor a log')

  const { code } = await restore(folder.file('copy.db'), database)

  expect(code).toBe(0)
  expect((await runProgram(['check', '--database', database])).out).toStartWith('ok: 3 plants')
  expect(readdirSync(folder.path).filter((name) => name.endsWith('-wal'))).toEqual([
    expect.stringContaining('.replaced-'),
  ])
})

test('restores where there is no database yet', async () => {
  using folder = temporaryFolder()
  await importLines(folder.file('plants.db'), lines(0, 3))
  await runProgram(['backup', folder.file('copy.db'), '--database', folder.file('plants.db')])

  const { code } = await restore(folder.file('copy.db'), folder.file('new.db'))

  expect(code).toBe(0)
  expect((await runProgram(['check', '--database', folder.file('new.db')])).out).toStartWith(
    'ok: 3',
  )
})

test('replaces no database that was made while it copied the backup', async () => {
  using folder = temporaryFolder()
  const database = folder.file('plants.db')
  await importLines(database, lines(0, 3))
  writeFileSync(folder.file('made'), 'of a backup')
  const before = readFileSync(database)

  expect(() => replaceDatabase(database, folder.file('made'), folder.file('kept'), false)).toThrow(
    'was made just now',
  )
  expect(readFileSync(database)).toEqual(before)
})

test('makes a file where one that was interrupted has left its own', async () => {
  using folder = temporaryFolder()
  const path = folder.file('copy')
  writeFileSync(`${path}.${process.pid}.tmp`, 'left')

  await produceFile(path, async (temporary) => {
    expect(existsSync(temporary)).toBeFalse()
    writeFileSync(temporary, 'whole')
  })

  expect(readFileSync(path, 'utf8')).toBe('whole')
  expect(readdirSync(folder.path)).toEqual(['copy'])
})

test('says in one line that there is no folder for a file', async () => {
  using folder = temporaryFolder()
  const database = folder.file('plants.db')
  await importLines(database, lines(0, 3))
  await runProgram(['backup', folder.file('copy.db'), '--database', database])

  const none = folder.file('none')
  for (const words of [
    ['backup', `${none}/copy.db`, '--database', database],
    ['export', `${none}/plants.csv`, '--database', database],
    ['restore', folder.file('copy.db'), '--database', `${none}/plants.db`],
  ]) {
    const { out, err, code } = await runProgram(words)
    expect({ out, code }).toEqual({ out: '', code: 2 })
    expect(err).toStartWith(`plantstore: the folder ${none} does not exist`)
    expect(err.trim().split('\n')).toHaveLength(1)
  }
})

test('restores where only the log of a database is left, which it keeps and does not take over', async () => {
  using folder = temporaryFolder()
  const database = folder.file('plants.db')
  await importLines(folder.file('other.db'), lines(0, 10))
  await runProgram(['backup', folder.file('copy.db'), '--database', folder.file('other.db')])
  const daemon = await startDaemon({ database })
  await daemon.create('{"id":1,"name":"of the log"}')
  await daemon.stop('SIGKILL')
  rmSync(database)

  const { out, code } = await restore(folder.file('copy.db'), database)

  expect(code).toBe(0)
  const kept = keptAs(out)
  expect(existsSync(`${kept}-wal`)).toBeTrue()
  expect((await runProgram(['check', '--database', database])).out).toStartWith('ok: 10 plants')
})

test('restores beside who reads the old database, and keeps what is created afterwards', async () => {
  using folder = temporaryFolder()
  const database = folder.file('plants.db')
  await importLines(database, lines(0, 10))
  await runProgram(['backup', folder.file('copy.db'), '--database', database])
  const before = await startDaemon({ database })
  await before.create('{"id":50,"name":"in the log"}')
  const reader = new Database(database, { readwrite: true, create: false })
  reader.run('BEGIN')
  const read = () => reader.query<{ n: number }, []>('SELECT count(*) AS n FROM plants').get()?.n
  expect(read()).toBe(11)
  await before.stop()

  const { out } = await restore(folder.file('copy.db'), database)
  const daemon = await startDaemon({ database })
  for (const id of [101, 102, 103]) {
    expect((await daemon.create(`{"id":${id},"name":"after"}`)).status).toBe(200)
  }
  expect(read()).toBe(11)
  await daemon.stop('SIGKILL')
  reader.run('COMMIT')
  reader.close(true)

  const kept = keptAs(out)
  expect((await runProgram(['check', '--database', database])).out).toStartWith('ok: 13 plants')
  expect((await runProgram(['check', '--database', kept])).out).toStartWith('ok: 11 plants')
})

test('restores the database behind a link, and keeps the link', async () => {
  using folder = temporaryFolder()
  const link = folder.file('link.db')
  mkdirSync(folder.file('data'))
  symlinkSync(folder.file('data/plants.db'), link)
  await importLines(link, lines(0, 3))
  await runProgram(['backup', folder.file('copy.db'), '--database', link])
  await importLines(link, lines(3, 10))

  const { code } = await restore(folder.file('copy.db'), link)

  expect(code).toBe(0)
  expect(lstatSync(link).isSymbolicLink()).toBeTrue()
  expect((await runProgram(['check', '--database', link])).out).toStartWith('ok: 3 plants')
})

test.skipIf(process.getuid?.() !== 0)(
  'leaves a restored database to whom the old one belonged',
  async () => {
    using folder = temporaryFolder()
    const database = folder.file('plants.db')
    await importLines(database, lines(0, 3))
    await runProgram(['backup', folder.file('copy.db'), '--database', database])
    chownSync(database, 65_534, 65_534)
    chmodSync(database, 0o640)

    const { code } = await restore(folder.file('copy.db'), database)

    const { uid, gid, mode } = statSync(database)
    expect({ code, uid, gid, mode: mode & 0o777 }).toEqual({
      code: 0,
      uid: 65_534,
      gid: 65_534,
      mode: 0o640,
    })
  },
)

test('restores behind a link to a file that is gone', async () => {
  using folder = temporaryFolder()
  const link = folder.file('link.db')
  mkdirSync(folder.file('data'))
  symlinkSync('data/plants.db', link)
  await importLines(folder.file('other.db'), lines(0, 3))
  await runProgram(['backup', folder.file('copy.db'), '--database', folder.file('other.db')])

  const { code } = await restore(folder.file('copy.db'), link)

  expect(code).toBe(0)
  expect(lstatSync(link).isSymbolicLink()).toBeTrue()
  expect(readdirSync(folder.file('data'))).toEqual(['plants.db'])
})

test('refuses to restore while a daemon serves the database', async () => {
  using folder = temporaryFolder()
  const database = folder.file('plants.db')
  await importLines(database, lines(0, 3))
  await runProgram(['backup', folder.file('copy.db'), '--database', database])
  await using daemon = await startDaemon({ database })

  const { err, code } = await restore(folder.file('copy.db'), database)

  expect(code).toBe(1)
  expect(err).toContain('another plantstore serves')
  expect((await daemon.create('{"id":100,"name":"still here"}')).status).toBe(200)
})

test('finds a damaged page, and neither backs it up nor restores it', async () => {
  using folder = temporaryFolder()
  const database = folder.file('plants.db')
  await importLines(database, lines(0, 5000))
  writeSync(openSync(database, 'r+'), Buffer.alloc(4096, 0xa5), 0, 4096, 4096 * 6)

  const check = await runProgram(['check', '--database', database])
  const backup = await runProgram(['backup', folder.file('copy.db'), '--database', database])
  const restored = await restore(database, folder.file('other.db'))
  const exported = await runProgram(['export', folder.file('a.csv'), '--database', database])

  expect(check.code).toBe(1)
  expect(check.err).not.toBe('')
  for (const { out, err, code } of [backup, restored, exported]) {
    expect({ out, code }).toEqual({ out: '', code: 74 })
    expect(err).toMatch(/^plantstore: .*plants\.db is damaged.*\n$/)
  }
  expect(readdirSync(folder.path).filter((name) => !name.startsWith('plants.db'))).toEqual([])
})

test('refuses to check or back up what is not there or is no database', async () => {
  using folder = temporaryFolder()
  writeFileSync(folder.file('junk.db'), 'x'.repeat(5000))

  for (const name of ['none.db', 'junk.db']) {
    for (const command of [['check'], ['backup', folder.file('copy.db')]]) {
      const { err, code } = await runProgram([...command, '--database', folder.file(name)])
      expect({ code, lines: err.split('\n').length }).toEqual({ code: 1, lines: 2 })
    }
  }
  expect(readdirSync(folder.path)).toEqual(['junk.db'])
})
