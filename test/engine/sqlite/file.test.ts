import { Database } from 'bun:sqlite'
import { expect, test } from 'bun:test'
import { renameSync, rmSync, symlinkSync, writeFileSync } from 'node:fs'
import { fileSize, freeBytes, watchFiles } from '../../../src/engine/sqlite/files'
import { distrustPageCache, openFile } from '../../../src/engine/sqlite/open'
import { temporaryFolder } from '../../harness/folder'
import { openFiles } from '../../harness/open-files'
import { until } from '../../harness/until'

const openForReading = (path: string) => openFile(path, { isRead: true })

test('a file that is not a database is closed', () => {
  using folder = temporaryFolder()
  const path = folder.file('notes.txt')
  writeFileSync(path, 'not a database')

  expect(() => openForReading(path)).toThrow('is not a plantstore database')
  expect(() => openFile(path, { holdsLock: true, makesDatabase: false })).toThrow(
    'is not a plantstore database',
  )

  expect(openFiles(path)).toEqual([])
})

test('the pages of a database are read from the disk again, if it has any', () => {
  using folder = temporaryFolder()

  expect(() => distrustPageCache(folder.file('plants.db'))).not.toThrow()
  expect(() => distrustPageCache(folder.path)).toThrow('EISDIR')
  writeFileSync(folder.file('plants.db'), 'pages')
  distrustPageCache(folder.file('plants.db'))
  expect(openFiles(folder.path)).toEqual([])
  // A device without fsync.
  expect(() => distrustPageCache('/dev/null')).toThrow('EINVAL')
})

test('a path without a file has no size, and one without a folder no free space', () => {
  using folder = temporaryFolder()

  expect(fileSize(folder.file('none'))).toBe(0)
  expect(freeBytes(folder.file('none'))).toBeGreaterThan(0)
  expect(freeBytes(folder.file('none/plants.db'))).toBeNull()
})

test('the message says whether the database or its folder is missing', () => {
  using folder = temporaryFolder()
  const none = folder.file('none.db')
  const loop = folder.file('loop.db')
  symlinkSync(loop, loop)
  const open = (path: string, makesDatabase: boolean) =>
    openFile(path, { holdsLock: true, makesDatabase })

  expect(() => openForReading(none)).toThrow(`no database at ${none}; name another with --database`)
  expect(() => open(none, false)).toThrow(`no database at ${none}; name another with --database`)
  expect(() => open(folder.file('new/plants.db'), true)).toThrow(
    `folder ${folder.file('new')} does not exist`,
  )
  for (const makesDatabase of [false, true])
    expect(() => open(loop, makesDatabase)).toThrow(`cannot open ${loop}: `)
  expect(() => openForReading(loop)).toThrow(`cannot open ${loop}: `)
})

/** The values in a file itself, without its log. */
function valuesIn(path: string): unknown {
  using db = new Database(`file:${path}?immutable=1`, 0x1 | 0x40)
  return db.query('SELECT value FROM numbers').values().flat()
}

const nothing = () => {}

test.each([
  ['nothing is moved', nothing, false, [1]],
  ['the log is removed', (path: string) => rmSync(`${path}-wal`), true, [1, 2]],
  ['the index is removed', (path: string) => rmSync(`${path}-shm`), true, [1]],
  [
    'the log and the index are removed',
    (path: string) => {
      rmSync(`${path}-wal`)
      rmSync(`${path}-shm`)
    },
    true,
    [1, 2],
  ],
  ['the database is moved', (path: string) => renameSync(path, `${path}.moved`), true, [1, 2]],
  [
    'the log is replaced',
    (path: string) => {
      rmSync(`${path}-wal`)
      writeFileSync(`${path}-wal`, 'changes of another program')
    },
    true,
    [1],
  ],
] as const)('what the log holds is saved if it can be: %s', (_, lose, isMoved, saved) => {
  using folder = temporaryFolder()
  const path = folder.file('plants.db')
  using db = new Database(path, { safeIntegers: true })
  db.run('PRAGMA journal_mode = WAL')
  db.run('CREATE TABLE numbers (value INTEGER)')
  db.run('INSERT INTO numbers VALUES (1)')
  db.run('PRAGMA wal_checkpoint(TRUNCATE)')
  const files = watchFiles(db)
  // In the transaction of a read.
  db.run('INSERT INTO numbers VALUES (2)')
  db.run('BEGIN')
  db.query('SELECT 1 FROM numbers').get()

  lose(path)

  expect(files.isMoved()).toBe(isMoved)
  if (isMoved) expect(files.saveLog()).toBeTrue()
  const place = saved.length > 1 && !Bun.file(path).size ? `${path}.moved` : path
  expect(valuesIn(place)).toEqual([...saved])
})

test('a log that another program copies, or reads an old state of, is not saved', async () => {
  using folder = temporaryFolder()
  const path = folder.file('plants.db')
  using db = new Database(path, { safeIntegers: true })
  db.run('PRAGMA journal_mode = WAL')
  db.run('CREATE TABLE numbers (value INTEGER)')
  using reader = new Database(path, { safeIntegers: true })
  reader.run('BEGIN')
  reader.query('SELECT 1 FROM numbers').get()
  const files = watchFiles(db)
  expect(files.saveLog()).toBeTrue()
  const waiting = `new (require('bun:sqlite').Database)('${path}').run('PRAGMA busy_timeout = 60000; PRAGMA wal_checkpoint(RESTART)')`
  const program = Bun.spawn([process.execPath, '-e', waiting])
  await until('its copy waits for the reader', () => !files.saveLog())
  program.kill()
  await program.exited
  db.run('INSERT INTO numbers VALUES (2)')

  expect(files.saveLog()).toBeFalse()
  reader.run('COMMIT')
  expect(files.saveLog()).toBeTrue()
})
