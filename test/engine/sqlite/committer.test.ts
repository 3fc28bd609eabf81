// What the disk refuses in a COMMIT is undone; what it fails is fatal.
import { Database } from 'bun:sqlite'
import { afterEach, expect, spyOn, test } from 'bun:test'
import { openCommitter } from '../../../src/engine/sqlite/committer'
import type { CheckpointRow } from '../../../src/engine/sqlite/files'
import { createSchema } from '../../../src/engine/sqlite/schema'
import { toRow } from '../../../src/plant/row'
import { temporaryFolder } from '../../harness/folder'
import { openFiles } from '../../harness/open-files'

let beforeCommit = () => {}
afterEach(() => {
  beforeCommit = () => {}
})

/** A committer of a new database, whose COMMITs call `beforeCommit`; and a reader beside it. */
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
        return statement.run()
      },
    })
  })
  const committer = openCommitter(path)
  queries.mockRestore()
  const ids = () => db.query('SELECT id FROM plants').values().flat().map(Number)
  return { db, committer, ids }
}

const creates = (id: bigint) =>
  [{ kind: 'create', row: toRow({ id, name: 'Fern' }), origin: null }] as const

test('a database whose committer cannot be prepared is closed', () => {
  using folder = temporaryFolder()
  const path = folder.file('plants.db')
  using db = new Database(path)
  createSchema(db)
  db.run('DROP TABLE tokens')
  db.close(true)

  expect(() => openCommitter(path)).toThrow('no such table: tokens')
  expect(openFiles(path)).toEqual([])
})

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
