// Reads a database as of one moment, without writing to it:
// - Beside a write-ahead log, through SQLite's locks, which touch the log's index (-shm) alone.
// - Without a log, as `immutable`, and again if another process has written to the file meanwhile.

import { Database, constants as sqlite } from 'bun:sqlite'
import { statSync } from 'node:fs'
import { pathToFileURL } from 'node:url'
import { codeOf, OpenError } from '../../errors'
import { isOpenElsewhere } from '../../files/libc'
import { LOCK_PATIENCE, prepareOrClose, setPragmas } from './connection'
import { explainFailedOpen, isDamage } from './errors'
import { fileSize, lacksSidecar, type OpenedFile } from './files'
import { openFile } from './open'
import { requireKnown, schemaVersion } from './schema'

const TRIES = 10
const PAUSE_MS = 50

/** Opens a connection with SQLite's URI parameters (https://sqlite.org/uri.html), which begins to read. */
function openUri(path: string, parameters: string): Database {
  const url = `${pathToFileURL(path).href}?${parameters}`
  const db = new Database(url, sqlite.SQLITE_OPEN_READONLY | sqlite.SQLITE_OPEN_URI)
  const query = db.query.bind(db)
  // Flags cannot ask for exact integers.
  db.query = ((sql: string) => query(sql).safeIntegers(true)) as typeof query
  return prepareOrClose(db, () => {
    setPragmas(db)
    db.run(LOCK_PATIENCE)
    db.run('BEGIN')
    // SQLite opens the file at the first read. Its header may be older than its WAL.
    requireKnown(schemaVersion(db), path)
    return db
  })
}

/** The file beside a database that has changes which the database lacks; undefined if there is none. */
const logOf = (path: string): string | undefined =>
  [`${path}-journal`, `${path}-wal`].find((file) => fileSize(file) > 0)

/**
 * Differs after every write to a file without a log; null if it has one, or another process may begin one: only SQLite's
 * locks show the newest state.
 */
function fingerprint({ path, fd }: OpenedFile): string | null {
  if (logOf(path) || isOpenElsewhere(fd)) return null
  const stat = statSync(path, { bigint: true, throwIfNoEntry: false })
  return stat ? [stat.dev, stat.ino, stat.size, stat.mtimeNs, stat.ctimeNs].join() : ''
}

/** The reason that a database could not be read, as an `OpenError`; any other error is returned unchanged. */
function explain(error: unknown, path: string): unknown {
  const isOpening = /^SQLITE_(CANTOPEN|READONLY|IOERR_SHM)/.test(codeOf(error))
  const log = logOf(path)
  // Only a connection that may write can recover what a crash has left.
  if (isOpening && log) {
    return new OpenError(
      `cannot read ${log}, or it has changes that a crash has left, and nothing may be written here; copy both files to another folder, and read the copy`,
    )
  }
  const isOurs = isOpening || isDamage(error) || codeOf(error).startsWith('SQLITE_BUSY')
  return isOurs ? explainFailedOpen(error, path, 'read') : error
}

/**
 * Lets `read` read a database as of one moment, from the start again if the file changed meanwhile; `isOnce`: it cannot
 * begin again. Throws an `OpenError` if the database cannot be read.
 */
export async function readDatabase<T>(
  database: string,
  read: (db: Database) => T | Promise<T>,
  isOnce = false,
): Promise<T> {
  // Closed last: this drops SQLite's locks on the file.
  using file = openFile(database, { isRead: true })
  const { path } = file
  for (let tries = 1; tries <= TRIES; tries++) {
    if (tries > 1) await Bun.sleep(PAUSE_MS)
    if (lacksSidecar(file)) continue
    const before = fingerprint(file)
    let db: Database | undefined
    try {
      db = openUri(path, before === null ? 'mode=ro' : 'immutable=1')
      const value = await read(db)
      if (before === null || fingerprint(file) === before) return value
    } catch (error) {
      // If the last connection was just closing, its WAL has disappeared.
      if (fingerprint(file) === before) throw explain(error, path)
    } finally {
      db?.close(true)
    }
    if (isOnce && db) break
  }
  throw new OpenError(
    `${path} changed while it was read, or is in use without its -wal or -shm; run it again, or end its user: fuser ${path}`,
  )
}
