// A connection to an existing database: its pragmas, and the transaction that reads share.

import { Database } from 'bun:sqlite'

/** Prepares a connection. Closes it on failure: SQLite would keep the file open, and leave a WAL beside it. */
export function prepareOrClose<T>(db: Database, prepare: (db: Database) => T): T {
  try {
    return prepare(db)
  } catch (error) {
    db.close(true)
    throw error
  }
}

/** Time limit for the lock of another writing process; 0 by default in Bun. */
export const LOCK_PATIENCE_MS = 10_000
export const LOCK_PATIENCE = `PRAGMA busy_timeout = ${LOCK_PATIENCE_MS}`

/** The cache of a connection that may write. */
export const CACHE = 'PRAGMA cache_size = -8000'

/** Sets the pragmas of every connection, read-only ones too. */
export function setPragmas(db: Database): void {
  db.run('PRAGMA temp_store = MEMORY')
  // A damaged or hostile file must not run functions through its schema, nor have malformed pages read.
  db.run('PRAGMA trusted_schema = OFF')
  db.run('PRAGMA cell_size_check = ON')
}

/**
 * Opens a connection that may write, and waits for no lock. Prepare its statements with `query`, which caches them, so
 * that `close(true)` can finalize them: with one left, SQLite keeps the file and its locks.
 */
export function connect(path: string): Database {
  const options = { readwrite: true, create: false, safeIntegers: true }
  return prepareOrClose(new Database(path, options), (db) => {
    setPragmas(db)
    // A commit is on disk before it is answered (https://sqlite.org/pragma.html#pragma_synchronous).
    db.run('PRAGMA synchronous = FULL')
    // An automatic checkpoint hides its errors.
    db.run('PRAGMA wal_autocheckpoint = 0')
    db.run(CACHE)
    return db
  })
}

/**
 * Shares a transaction among the reads of a turn of the event loop, as SQLite's locks cost more than the reads. `begin`
 * begins it unless it is open; it ends after the turn. A read sees the commits before it began: `end` ends it before each
 * answer to a change.
 */
export function shareReads(db: Database) {
  const begin = db.query('BEGIN')
  const commit = db.query('COMMIT')
  let isOpen = false

  function end(): void {
    if (!isOpen) return
    isOpen = false
    try {
      // After a failed read, SQLite may have ended it.
      if (db.inTransaction) commit.run()
    } catch {
      // A damaged page was read.
      if (db.inTransaction) db.run('ROLLBACK')
    }
  }

  return {
    begin(): void {
      if (isOpen) return
      begin.run()
      isOpen = true
      setImmediate(end)
    },
    end,
  }
}
