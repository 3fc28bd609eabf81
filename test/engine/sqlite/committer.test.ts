// What the disk refuses in a COMMIT is undone; what it fails is fatal.
import { Database } from 'bun:sqlite'
import { afterEach, expect, spyOn, test } from 'bun:test'
import { renameSync, rmSync } from 'node:fs'
import { openCommitter } from '../../../src/engine/sqlite/committer'
import { connect } from '../../../src/engine/sqlite/connection'
import { type CheckpointRow, watchFiles } from '../../../src/engine/sqlite/files'
import { createSchema } from '../../../src/engine/sqlite/schema'
import { toRow } from '../../../src/plant/row'
import { temporaryFolder } from '../../harness/folder'

let beforeCommit = () => {}
let afterCommit = () => {}
afterEach(() => {
  beforeCommit = () => {}
  afterCommit = () => {}
})

/** A committer of a new database, whose COMMITs call `beforeCommit` and `afterCommit`; and a reader beside it. */
function openTested(path: string) {
  const db = new Database(path, { safeIntegers: true })
  createSchema(db)
  db.run('PRAGMA journal_mode = WAL')
  db.query('SELECT id FROM plants').values()
  const { query } = Database.prototype
  const queries = spyOn(Database.prototype, 'query').mockImplementation(function (
    this: Database,
    sql: string,
  ) {
    const statement = query.call(this, sql)
    if (sql !== 'COMMIT') return statement
    return Object.assign(Object.create(statement), {
      run() {
        beforeCommit()
        const result = statement.run()
        afterCommit()
        return result
      },
    })
  })
  const { inodes } = watchFiles(path)
  const committer = openCommitter({ path, inodes })
  queries.mockRestore()
  const ids = () => db.query('SELECT id FROM plants').values().flat().map(Number)
  return { db, committer, ids }
}

const creates = (id: bigint) =>
  [{ kind: 'create', row: toRow({ id, name: 'Fern' }), origin: null }] as const

const sqliteError = (code: string, message: string) => Object.assign(new Error(message), { code })

test.each([
  ['SQLITE_IOERR_FSYNC', 'disk I/O error', 'fatal'],
  ['SQLITE_IOERR_READ', 'disk I/O error', 'fatal'],
  ['SQLITE_CORRUPT', 'database disk image is malformed', 'fatal'],
  ['SQLITE_FULL', 'database or disk is full', 'full'],
] as const)(
  'a COMMIT that ends with %s is undone in this process: %s, %s',
  (code, message, kind) => {
    using folder = temporaryFolder()
    const { db, committer, ids } = openTested(folder.file('plants.db'))
    beforeCommit = () => {
      throw sqliteError(code, message)
    }

    expect(committer.commit(creates(1n))).toEqual({
      failure: { kind, detail: `${code} ${message}` },
    })
    beforeCommit = () => {}
    expect(committer.commit(creates(2n))).toEqual({})
    expect(ids()).toEqual([2])
    committer.close()
    db.close()
  },
)

test.each([
  ['the log is removed', (path: string) => rmSync(`${path}-wal`)],
  ['the index of the log is removed', (path: string) => rmSync(`${path}-shm`)],
  ['the database is moved', (path: string) => renameSync(path, `${path}.moved`)],
])('a commit is in doubt if %s meanwhile', (_, lose) => {
  using folder = temporaryFolder()
  const path = folder.file('plants.db')
  const { db, committer } = openTested(path)
  afterCommit = () => lose(path)

  expect(committer.commit(creates(1n))).toMatchObject({
    failure: { kind: 'in doubt' },
  })
  committer.close()
  db.close()
})

test('a commit whose log is removed meanwhile is in the database file', () => {
  using folder = temporaryFolder()
  const path = folder.file('plants.db')
  const { committer, db } = openTested(path)
  afterCommit = () => rmSync(`${path}-wal`)
  committer.commit(creates(1n))

  using other = new Database(`file:${path}?immutable=1`, 0x1 | 0x40)
  expect(other.query('SELECT id FROM plants').values()).toEqual([[1]])
  committer.close()
  db.close()
})

test.each([
  ['the log', (path: string) => rmSync(`${path}-wal`)],
  ['the index', (path: string) => rmSync(`${path}-shm`)],
  ['the database', (path: string) => rmSync(path)],
])('nothing is written once %s is gone', (_, lose) => {
  using folder = temporaryFolder()
  const path = folder.file('plants.db')
  const { committer, db } = openTested(path)
  expect(committer.commit(creates(1n))).toEqual({})
  lose(path)

  for (const reply of [committer.commit(creates(2n)), committer.rehearse()])
    expect(reply).toMatchObject({ failure: { kind: 'moved' } })
  committer.close()
  db.close()
})

test('a rehearsal stores nothing, and reports why a write would fail', () => {
  using folder = temporaryFolder()
  const { committer, db, ids } = openTested(folder.file('plants.db'))
  beforeCommit = () => {
    throw sqliteError('SQLITE_FULL', 'database or disk is full')
  }
  expect(committer.commit(creates(1n))).toMatchObject({ failure: { kind: 'full' } })
  expect(committer.rehearse()).toEqual({})
  expect(ids()).toEqual([])
  beforeCommit = () => {}

  db.run('BEGIN IMMEDIATE')
  expect(committer.rehearse()).toMatchObject({ failure: { kind: 'busy' } })
  db.run('ROLLBACK')
  expect(committer.commit(creates(2n))).toEqual({})
  expect(ids()).toEqual([2])
  committer.close()
  db.close()
})

test.each([false, true])('a short log is copied if the disk is full: %j', (isFull) => {
  using folder = temporaryFolder()
  const { committer, db } = openTested(folder.file('plants.db'))
  committer.commit(creates(1n))
  expect(committer.checkpoint(isFull)).toBeNull()

  const [row] = db.query<CheckpointRow, []>('PRAGMA wal_checkpoint(NOOP)').all()
  expect(row?.log).toBeGreaterThan(0n)
  expect(row?.checkpointed === row?.log).toBe(isFull)
  committer.close()
  db.close()
})

test('a connection that opens another file than the serving thread is refused', () => {
  using folder = temporaryFolder()
  const path = folder.file('plants.db')
  const { committer, db } = openTested(path)
  const { inodes } = watchFiles(path)
  committer.close()
  db.close()
  renameSync(path, `${path}.moved`)
  using other = new Database(path)
  createSchema(other)
  other.run('PRAGMA journal_mode = WAL')

  expect(() => openCommitter({ path, inodes })).toThrow('was moved, replaced or removed')
  expect(connect(path)).toBeInstanceOf(Database)
})
