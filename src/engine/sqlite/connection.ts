// A connection to a database that is there, with the pragmas of every one.

import { Database } from 'bun:sqlite'
import { preparePlants } from './plants'
import { shareReads } from './shared-reads'
import { prepareTokens } from './tokens'

/**
 * Opens a connection that may write. Its statements come by `query`, which keeps them, so that `close(true)` finalizes
 * them: with one left, SQLite goes on holding the file and its locks.
 */
export function connect(path: string): Database {
  const db = new Database(path, { readwrite: true, create: false, safeIntegers: true })
  try {
    // How long to wait for another process that writes: 0 by default in Bun.
    db.run('PRAGMA busy_timeout = 10000')
    // A commit is on the disk before it is answered (https://sqlite.org/pragma.html#pragma_synchronous).
    db.run('PRAGMA synchronous = FULL')
    // An automatic checkpoint hides its errors: see checkpoint.ts.
    db.run('PRAGMA wal_autocheckpoint = 0')
    db.run('PRAGMA cache_size = -8000')
    db.run('PRAGMA temp_store = MEMORY')
    // A damaged or hostile file must not run functions by its schema, nor pass a malformed page on.
    db.run('PRAGMA trusted_schema = OFF')
    db.run('PRAGMA cell_size_check = ON')
    return db
  } catch (error) {
    // SQLite leaves a log beside the file, unless it is closed.
    db.close(true)
    throw error
  }
}

/** What the serving thread does with its connection. `onFailure` is told where the connection is of no more use. */
export const prepareServing = (db: Database, onFailure: (error: unknown) => void) => ({
  db,
  shared: shareReads(db, onFailure),
  plants: preparePlants(db),
  tokens: prepareTokens(db),
})

export type ServingConnection = ReturnType<typeof prepareServing>
