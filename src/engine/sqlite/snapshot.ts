// Reads a database as of one moment, without writing to it:
// - Beside a write-ahead log, through SQLite's locks, which touch the log's index (-shm) alone.
// - Without a log, as `immutable`, and again if another process has written to the file meanwhile.

import { Database, type SQLQueryBindings, constants as sqlite } from 'bun:sqlite'
import { closeSync, existsSync, realpathSync, statSync } from 'node:fs'
import { pathToFileURL } from 'node:url'
import { codeOf, OpenError } from '../../errors'
import { kindAt } from '../../files/resolve-path'
import { prepareOrClose, setPragmas } from './connection'
import { accessError, explainFailedRead } from './errors'
import { filesOf, requireSidecars } from './files'
import { openFile } from './open'
import { requireKnown, schemaVersion } from './schema'

const TRIES = 10
const PAUSE_MS = 50

// Differs after every write to the file: what is only in a new WAL is of a later moment.
function fingerprint(path: string): string {
  const stat = statSync(path, { bigint: true, throwIfNoEntry: false })
  return stat ? [stat.dev, stat.ino, stat.size, stat.mtimeNs, stat.ctimeNs].join() : ''
}

/** A connection with SQLite's URI parameters (https://sqlite.org/uri.html), which Bun's options lack. */
class UriDatabase extends Database {
  constructor(path: string, parameters: string) {
    const { SQLITE_OPEN_READONLY, SQLITE_OPEN_URI } = sqlite
    super(`${pathToFileURL(path).href}?${parameters}`, SQLITE_OPEN_READONLY | SQLITE_OPEN_URI)
  }

  // Flags cannot ask for exact integers.
  override query<Row, Parameters extends SQLQueryBindings | SQLQueryBindings[]>(sql: string) {
    return super.query<Row, Parameters>(sql).safeIntegers(true)
  }
}

/** Opens a connection that begins to read. */
function openUri(path: string, parameters: string): Database {
  const db = new UriDatabase(path, parameters)
  return prepareOrClose(db, () => {
    setPragmas(db)
    db.run('BEGIN')
    // SQLite opens the file at the first read. Its header may be older than its WAL.
    requireKnown(schemaVersion(db), path)
    return db
  })
}

/** The file beside a database that has changes which the database lacks; undefined if there is none. */
const logOf = (path: string): string | undefined =>
  [`${path}-journal`, `${path}-wal`].find(
    (file) => kindAt(file) === null && (statSync(file, { throwIfNoEntry: false })?.size ?? 0) > 0,
  )

/** True if only SQLite's locks show the newest state. */
const isShared = (path: string): boolean =>
  logOf(path) !== undefined || (existsSync(`${path}-wal`) && existsSync(`${path}-shm`))

// Only a connection that may write can recover what a crash has left.
const UNRECOVERED = /^SQLITE_(CANTOPEN|READONLY)/

function explain(error: unknown, path: string): unknown {
  const log = logOf(path)
  if (log === undefined || !UNRECOVERED.test(codeOf(error))) return explainFailedRead(error, path)
  return new OpenError(
    `${log} has changes that a crash has left, and they cannot be read here, where nothing may be written; copy both files to another folder, and read the copy`,
  )
}

/**
 * Lets `read` read a database as of one moment, from the start again if the file changed meanwhile; `isOnce`: it cannot
 * begin again. Throws an `OpenError` if the database cannot be read.
 */
export async function readDatabase<T>(
  path: string,
  read: (db: Database) => T | Promise<T>,
  isOnce = false,
): Promise<T> {
  // SQLite would only report that it cannot open the file.
  const refusal = existsSync(path) && accessError(filesOf(realpathSync(path)), 'read')
  if (refusal) throw refusal
  const file = openFile(path, { isRead: true })
  try {
    for (let tries = 1; tries <= TRIES; tries++) {
      const result = await readOnce(file, read, isOnce)
      if (result) return result.value
      await Bun.sleep(PAUSE_MS)
    }
    throw new OpenError(`${file.path} keeps changing; try again`)
  } finally {
    // This drops SQLite's locks on the file.
    closeSync(file.fd)
  }
}

/** Resolves to null if the file has changed meanwhile. */
async function readOnce<T>(
  file: ReturnType<typeof openFile>,
  read: (db: Database) => T | Promise<T>,
  isOnce: boolean,
): Promise<{ readonly value: T } | null> {
  const { path } = file
  const before = fingerprint(path)
  const hasLog = isShared(path)
  let db: Database | undefined
  try {
    await requireSidecars(file)
    db = openUri(path, hasLog ? 'mode=ro' : 'immutable=1')
    const value = await read(db)
    if (hasLog || fingerprint(path) === before) return { value }
  } catch (error) {
    // If the last connection was just closing, its WAL has disappeared.
    const isStill = db ? hasLog || fingerprint(path) === before : hasLog === isShared(path)
    if (isStill) throw explain(error, path)
  } finally {
    db?.close(true)
  }
  if (isOnce && db) throw new OpenError(`${path} changed while it was read; run it again`)
  return null
}

/** Copies what a connection reads to a new file, which is not synced (https://sqlite.org/lang_vacuum.html#vacuuminto). */
export function copyInto(db: Database, target: string): void {
  db.run('COMMIT')
  db.run('PRAGMA synchronous = OFF')
  db.run('VACUUM INTO ?', [target])
}
