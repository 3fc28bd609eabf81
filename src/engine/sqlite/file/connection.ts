// A connection to an existing database, with the pragmas common to all.

import { Database } from 'bun:sqlite'
import { dirname } from 'node:path'
import { syncFolder } from '../../../files/sync'

/** Prepares a connection. Closes it on failure: SQLite would keep the file open, and leave a WAL beside it. */
export function prepareOrClose<T>(db: Database, prepare: () => T): T {
  try {
    return prepare()
  } catch (error) {
    db.close(true)
    throw error
  }
}

/** Time limit of a connection for the lock of another writing process; 0 by default in Bun. */
export const LOCK_PATIENCE_MS = 10_000

/** The cache of a connection that may write. */
export const CACHE = 'PRAGMA cache_size = -8000'

/** Sets the pragmas of every connection, read-only ones too. */
export function setPragmas(db: Database, patience = LOCK_PATIENCE_MS): void {
  db.run(`PRAGMA busy_timeout = ${patience}`)
  db.run('PRAGMA temp_store = MEMORY')
  // A damaged or hostile file must not run functions through its schema, nor have malformed pages read.
  db.run('PRAGMA trusted_schema = OFF')
  db.run('PRAGMA cell_size_check = ON')
}

/**
 * Opens a connection that may write. Prepare its statements with `query`, which caches them, so that `close(true)` can
 * finalize them: with one left, SQLite keeps the file and its locks. `patience`: time limit for a lock in milliseconds.
 */
export function connect(path: string, patience = LOCK_PATIENCE_MS): Database {
  const db = new Database(path, { readwrite: true, create: false, safeIntegers: true })
  return prepareOrClose(db, () => {
    setPragmas(db, patience)
    // A commit is on disk before it is answered (https://sqlite.org/pragma.html#pragma_synchronous).
    db.run('PRAGMA synchronous = FULL')
    // An automatic checkpoint hides its errors: see checkpoint.ts.
    db.run('PRAGMA wal_autocheckpoint = 0')
    db.run(CACHE)
    return db
  })
}

/** Closes a connection; the last one removes the WAL, durably. */
export function closeDatabase(db: Database): void {
  db.close(true)
  syncFolder(dirname(db.filename))
}
