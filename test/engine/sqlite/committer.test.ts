import { Database } from 'bun:sqlite'
import { expect, spyOn, test } from 'bun:test'
import { DONE } from '../../../src/engine/commit/write'
import { openCommitter } from '../../../src/engine/sqlite/committing/committer'
import { connect } from '../../../src/engine/sqlite/file/connection'
import { migrate } from '../../../src/engine/sqlite/file/migrations'
import { watchInode } from '../../../src/files/libc'
import { toRow } from '../../../src/plant/row'
import { temporaryFolder } from '../../harness/folder'

/** A committer of a new database; so many of its COMMITs fail as they do on a broken disk. */
function failingCommitter(path: string) {
  using db = new Database(path)
  migrate(db)
  db.run('PRAGMA journal_mode = WAL')
  let failures = 0
  const { query } = Database.prototype
  const queries = spyOn(Database.prototype, 'query').mockImplementation(function (
    this: Database,
    sql: string,
  ) {
    const statement = query.call(this, sql)
    if (sql !== 'COMMIT') return statement
    return Object.assign(Object.create(statement), {
      run() {
        if (failures-- > 0) throw new Error('disk I/O error')
        return statement.run()
      },
    })
  })
  const inode = watchInode(path)()
  const committer = openCommitter({ path, inode, mayKeepChangeLog: false }, false, () => {})
  queries.mockRestore()
  return {
    ...committer,
    fail: (commits: number) => {
      failures = commits
    },
  }
}

const creates = (id: bigint) =>
  [{ kind: 'create', row: toRow({ id, name: 'Fern' }), origin: null }] as const

test('a commit that fails is undone by another one, and in doubt if that fails too', () => {
  using folder = temporaryFolder()
  const path = folder.file('plants.db')
  const { commit, fail, close } = failingCommitter(path)
  const failure = { kind: 'failed', detail: 'disk I/O error' } as const

  fail(1)
  expect(commit(creates(1n))).toEqual({ failure })
  expect(commit(creates(2n))).toBe(DONE)
  fail(2)
  expect(commit(creates(3n))).toEqual({ failure, inDoubt: [DONE], lastEntry: null })
  expect(commit(creates(4n))).toBe(DONE)
  close()

  using db = connect(path)
  expect(db.query('SELECT id FROM plants').values()).toEqual([[2n], [4n]])
})
