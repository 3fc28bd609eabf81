// A connection to an existing database, with the pragmas that all connections have.

import { Database } from 'bun:sqlite'
import { dirname } from 'node:path'
import { syncFolder } from '../../../files/sync'
import { type ChangeLogReader, prepareChangeLogReader } from './change-log'
import { type PlantReader, preparePlants } from './plants'
import { type SharedReads, shareReads } from './shared-reads'
import { prepareTokens, type TokenTable } from './tokens'

/** Prepares a connection. If that fails, closes it: SQLite would keep the file, and leave a WAL beside it. */
export function prepareOrClose<T>(db: Database, prepare: () => T): T {
  try {
    return prepare()
  } catch (error) {
    db.close(true)
    throw error
  }
}

/** How long a connection waits for another process that is writing; 0 by default in Bun. */
export const LOCK_PATIENCE_MS = 10_000

/** In SQL: the cache of a connection that may write. */
export const CACHE = 'PRAGMA cache_size = -8000'

/** What every connection has, one that only reads too. */
export function setPragmas(db: Database, patience = LOCK_PATIENCE_MS): void {
  db.run(`PRAGMA busy_timeout = ${patience}`)
  db.run('PRAGMA temp_store = MEMORY')
  // A damaged or hostile file must not run functions through its schema, nor have malformed pages read.
  db.run('PRAGMA trusted_schema = OFF')
  db.run('PRAGMA cell_size_check = ON')
}

/**
 * Opens a connection that may write. Prepare its statements with `query`, which caches them, so that `close(true)` can
 * finalize them: if one is left, SQLite keeps the file and its locks. `patience`: milliseconds to wait for a lock.
 */
export function connect(path: string, patience = LOCK_PATIENCE_MS): Database {
  const db = new Database(path, { readwrite: true, create: false, safeIntegers: true })
  return prepareOrClose(db, () => {
    setPragmas(db, patience)
    // A commit is on the disk before it is answered (https://sqlite.org/pragma.html#pragma_synchronous).
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

/** The serving thread's connection, and its prepared statements. */
export type ServingConnection = {
  readonly db: Database
  readonly shared: SharedReads
  readonly plants: PlantReader
  readonly tokens: TokenTable
  readonly changeLog: ChangeLogReader
}

/** Prepares the serving thread's connection; see {@link shareReads}. Closes it if that fails. */
export function prepareServing(
  db: Database,
  mayShare: () => boolean,
  onFailure: (error: unknown) => void,
): ServingConnection {
  return prepareOrClose(db, () => ({
    db,
    shared: shareReads(db, mayShare, onFailure),
    plants: preparePlants(db),
    tokens: prepareTokens(db),
    changeLog: prepareChangeLogReader(db),
  }))
}
