import { Database } from 'bun:sqlite'
import { expect, setDefaultTimeout, test } from 'bun:test'
import { existsSync, rmSync, statSync } from 'node:fs'
import { toError, toFailure } from '../../../src/engine/sqlite/errors'
import { readDatabase } from '../../../src/engine/sqlite/snapshot'
import { ERRORS } from '../../../src/request-errors'
import { refusalOf, storeFolder } from '../../harness/commands'
import { PATIENCE_MS, runProgram, temporaryFolder } from '../../harness/daemon'

setDefaultTimeout(PATIENCE_MS)

/** The error of a statement that cannot be run. */
function thrownBy(act: () => void): unknown {
  try {
    act()
  } catch (error) {
    return error
  }
  throw new Error('it was done')
}

test('the message says whether a database is full, locked or damaged', () => {
  using folder = temporaryFolder()
  const path = folder.file('any.db')
  using db = new Database(path)
  using other = new Database(path)
  db.run('CREATE TABLE t (x)')

  db.run('BEGIN IMMEDIATE')
  const busy = toFailure(
    thrownBy(() => other.run('INSERT INTO t VALUES (1)')),
    path,
  )
  db.run('ROLLBACK')
  db.run('PRAGMA max_page_count = 2')
  const full = toFailure(
    thrownBy(() => db.run('INSERT INTO t VALUES (zeroblob(100000))')),
    path,
  )
  const failed = toFailure(
    thrownBy(() => db.run('SELECT * FROM none')),
    path,
  )

  const told = [busy, full, failed].map((failure) => [
    toError(failure).error,
    toError(failure, { isInDoubt: false }).message,
  ])
  expect(told).toEqual([
    ['busy', 'the database is locked by another program'],
    ['disk full', 'disk full'],
    ['storage failed', 'cannot write to the database: SQLITE_ERROR no such table: none'],
  ])
  expect(toError(failed).message).toBe(ERRORS['storage failed'].message)
})

test('a commit that fails is fatal, even if the disk refuses the trial of its space', () => {
  const error = Object.assign(new Error('disk I/O error'), { code: 'SQLITE_IOERR_WRITE' })
  const tooLong = `/tmp/${'a'.repeat(250)}`

  expect(toFailure(error, tooLong, true).kind).toBe('fatal')
})

test('the message says why a token cannot be stored', async () => {
  using folder = storeFolder()
  const { database } = folder
  const args = ['--database', database]
  await using daemon = await folder.serve()
  for (let id = 0; id < 20; id++) await daemon.create(id)
  expect(statSync(`${database}-wal`).size).toBeGreaterThan(40_960)

  // No file may grow beyond 40 KiB.
  const under = ['bash', '-c', 'ulimit -f 40; exec "$0" "$@"']
  expect(refusalOf(await runProgram(['token', 'create', 'phone', ...args], { under }), 74)).toBe(
    'cannot write to the database: SQLITE_IOERR_WRITE disk I/O error; the last changes may or may not be on disk: run it again',
  )
  expect((await runProgram(['token', 'list', ...args])).out).not.toContain('phone')
})

test('the message says why a new database cannot be written', async () => {
  using folder = temporaryFolder()
  // No file may be longer than 2 KiB.
  const under = ['bash', '-c', 'ulimit -f 2; exec "$0" "$@"']

  expect(
    refusalOf(await runProgram(['serve', '--port', '0'], { cwd: folder.path, under }), 74),
  ).toMatch(/^cannot open .*plants\.db: disk I\/O error$/)
})

// As in another container: its processes have other numbers, or none.
const UNSHARED = ['unshare', '-rpf', '--mount-proc']
const canUnshare = Bun.spawnSync([...UNSHARED, 'true']).success

test('a command beside a daemon whose log was removed creates no log, and reads no old state', async () => {
  using folder = storeFolder()
  const { database } = folder
  await using daemon = await folder.serve()
  await daemon.create(1)
  rmSync(`${database}-wal`)

  await expect(readDatabase(database, () => 'read')).rejects.toThrow('is in use without its -wal')
  if (canUnshare)
    expect(refusalOf(await folder.run(['export'], { under: UNSHARED }))).toContain('is in use')
  expect(refusalOf(await folder.run(['token', 'create', 'phone']))).toBe(
    `${database} is locked by another program`,
  )
  expect(existsSync(`${database}-wal`)).toBeFalse()
})
