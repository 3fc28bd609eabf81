// The copy of a write-ahead log into its database.
import { Database } from 'bun:sqlite'
import { expect, test } from 'bun:test'
import { closeSync, openSync } from 'node:fs'
import { copyLog } from '../../../src/engine/sqlite/committing/checkpoint'
import { setRangeLock } from '../../../src/files/libc'
import { temporaryFolder } from '../../harness/daemon'

// https://sqlite.org/walformat.html, section 2.3: WAL_CKPT_LOCK.
const CHECKPOINT_LOCK_BYTE = 121

test('a log is not copied whole while another program holds the checkpoint lock', () => {
  using folder = temporaryFolder()
  using db = new Database(folder.file('plants.db'), { safeIntegers: true })
  db.run('PRAGMA journal_mode = WAL')
  db.run('CREATE TABLE plants (id INTEGER PRIMARY KEY)')
  const index = openSync(folder.file('plants.db-shm'), 'r+')
  expect(setRangeLock(index, 'exclusive', CHECKPOINT_LOCK_BYTE, 1)).toBeTrue()

  expect(copyLog(db)).toBeFalse()
  closeSync(index)
  expect(copyLog(db)).toBeTrue()
})
