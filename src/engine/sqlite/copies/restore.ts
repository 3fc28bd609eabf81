// Replaces a database with a backup. Phases:
// - copy: the backup is copied to a private folder beside the database, checked and synced.
// - fold: the write-ahead log (WAL) of the old database is merged into its file, which is then locked against everyone.
// - exchange: the two files exchange their names; the old one is kept, and its tokens are those of the new one, too.
// If the old database is too damaged to be folded, it is exchanged with a marker, which every command refuses. Its WAL
// follows it, and the new database replaces the marker.
//
// Whenever it is killed, the path has the complete old database, the complete backup, or the marker: never a database
// beside the WAL of another. Files are renamed atomically, and each step is on disk before the next.

import { Database } from 'bun:sqlite'
import {
  chmodSync,
  chownSync,
  closeSync,
  existsSync,
  fstatSync,
  renameSync,
  type Stats,
  statSync,
  writeFileSync,
} from 'node:fs'
import { basename, dirname, join } from 'node:path'
import { codeOf, OpenError, UsageError } from '../../../errors'
import { copyBytes } from '../../../files/copy-bytes'
import { exchangeFiles } from '../../../files/libc'
import { makePrivateFolder } from '../../../files/private-folder'
import { placeNew } from '../../../files/replace-file'
import {
  checkFolder,
  explainFailedWrite,
  isSameFile,
  requireRegular,
  targetOf,
} from '../../../files/resolve-path'
import { syncFile, syncFolder } from '../../../files/sync'
import { renameChangeLog } from '../file/change-log-row'
import { type OpenedFile, openFile, openReadable, requireDatabaseName } from '../file/database-file'
import { explainFailedOpen, lockedByAnother } from '../file/errors'
import { readRestoreMarker, restoreMarker } from '../file/restore-marker'
import { excludeConnections, SIDECAR_SUFFIXES } from '../file/sidecars'
import type { OnBytes } from '../read-only/copy'
import { copyDatabase } from './backup'
import { keepTokens, validTokens } from './restored-tokens'

/** The result of a restore. */
type Restored = {
  readonly plants: number
  /** The path of the old database; null if there was none. */
  readonly kept: string | null
  /**
   * The names of tokens that are valid as in the backup, and may have been revoked since; null if the tokens are those
   * of the old database.
   */
  readonly tokensOfBackup: readonly string[] | null
}

// SQLite cannot recover such a database: it is kept unchanged.
const UNRECOVERABLE = /^SQLITE_(CORRUPT|NOTADB|IOERR|ERROR)/

// The restoring user may not be the one who serves the database.
function takeOwner(path: string, { uid, gid, mode }: Pick<Stats, 'uid' | 'gid' | 'mode'>): void {
  const made = statSync(path)
  try {
    if (made.uid !== uid || made.gid !== gid) chownSync(path, uid, gid)
  } catch {
    throw new OpenError(
      `the database belongs to user ${uid}, group ${gid}; restore it as that user`,
    )
  }
  chmodSync(path, mode & 0o777)
}

const sidecarsOf = (path: string) => SIDECAR_SUFFIXES.filter((suffix) => existsSync(path + suffix))

const hold = (path: string): OpenedFile | null =>
  existsSync(path)
    ? openFile(path, { holdsLock: true, makesDatabase: false, checksHeader: false })
    : null

const journalMode = (db: Database): string | undefined =>
  db.query<{ journal_mode: string }, []>('PRAGMA journal_mode').get()?.journal_mode

/**
 * Merges the WAL of the old database into its file, and removes it; no other process can open the database until the
 * returned connection is closed. Null if it is damaged. Throws an `OpenError` if it is in use.
 */
function foldWal(path: string): Database | null {
  // SQLite would remove the WAL of a file without a header.
  try {
    closeSync(openReadable(path).fd)
  } catch {
    return null
  }
  const db = new Database(path, { readwrite: true, create: false })
  try {
    db.run('PRAGMA busy_timeout = 1000')
    db.query('PRAGMA journal_mode = DELETE').get()
    db.run('BEGIN EXCLUSIVE')
    // In the meantime, another process may have started to use it, with a new WAL.
    if (journalMode(db) === 'delete' && sidecarsOf(path).length === 0) return db
    throw lockedByAnother(path)
  } catch (error) {
    db.close(true)
    if (UNRECOVERABLE.test(codeOf(error))) return null
    throw explainFailedOpen(error, path)
  }
}

/** Moves a file to a path, and the old one to `kept`, atomically; copies if the file system cannot do that. */
async function exchange(made: string, { path, fd }: OpenedFile, kept: string): Promise<void> {
  renameSync(made, kept)
  if (!exchangeFiles(kept, path)) {
    renameSync(kept, made)
    const copy = `${made}.old`
    await copyBytes(fd, copy)
    takeOwner(copy, fstatSync(fd))
    await syncFile(copy)
    renameSync(copy, kept)
    syncFolder(dirname(path))
    renameSync(made, path)
  }
  syncFolder(dirname(path))
}

/** Moves the files beside a marker to the old database, then replaces the marker with the new database. */
function completeMove(made: string, path: string, kept: string): void {
  for (const suffix of sidecarsOf(path)) renameSync(path + suffix, kept + suffix)
  syncFolder(dirname(path))
  renameSync(made, path)
  syncFolder(dirname(path))
}

async function makeMarker(made: string, kept: string): Promise<string> {
  const marker = `${made}.marker`
  writeFileSync(marker, restoreMarker(basename(kept)), { flag: 'wx' })
  await syncFile(marker)
  return marker
}

type Replaced = Pick<Restored, 'kept'> & { readonly keepsTokens: boolean }

async function replace(made: string, held: OpenedFile, kept: string): Promise<Replaced> {
  const { path, fd } = held
  const interrupted = readRestoreMarker(fd)
  if (interrupted !== null) {
    const keptBefore = join(dirname(path), interrupted)
    completeMove(made, path, keptBefore)
    return { kept: keptBefore, keepsTokens: false }
  }
  const old = foldWal(path)
  if (old) {
    try {
      // The WAL must not reappear after a loss of power.
      syncFolder(dirname(path))
      const keepsTokens = changeCopy(made, (db) => keepTokens(old, db))
      await syncFile(made)
      await exchange(made, held, kept)
      return { kept, keepsTokens }
    } finally {
      old.close(true)
    }
  }
  if (!excludeConnections(fd)) throw lockedByAnother(path)
  const marker = await makeMarker(made, kept)
  await exchange(marker, held, kept)
  completeMove(made, path, kept)
  return { kept, keepsTokens: false }
}

// The database is gone, and only its WAL is left.
async function keepWal(made: string, path: string, kept: string): Promise<void> {
  const marker = await makeMarker(made, kept)
  placeNew(marker, path)
  const held = hold(path)
  try {
    syncFolder(dirname(path))
    completeMove(made, path, kept)
  } finally {
    if (held) closeSync(held.fd)
  }
}

// Neither synced nor in use.
function changeCopy<T>(made: string, change: (db: Database) => T): T {
  using db = new Database(made, { readwrite: true, create: false })
  db.run('PRAGMA synchronous = OFF')
  return change(db)
}

/**
 * Checks a backup and makes it the database at a path, with the owner and mode of the old one; if there was none, with
 * the folder's owner. Throws an `OpenError` if the backup is damaged or the database is in use.
 */
export async function restoreDatabase(
  from: string,
  database: string,
  suffix: string,
  onBytes: OnBytes,
): Promise<Restored> {
  const path = targetOf(database)
  requireDatabaseName(path)
  const folder = dirname(path)
  const kept = `${path}.${suffix}`
  checkFolder(folder)
  requireRegular(from)
  requireRegular(database)
  if (isSameFile(from, path)) throw new UsageError(`${from} is the database itself; name a backup`)
  const held = hold(path)
  try {
    await using own = await makePrivateFolder(folder)
    const made = join(own.path, 'restored.db')
    const { plants } = await copyDatabase(from, made, onBytes)
    const valid = changeCopy(made, (db) => {
      // The entries after the backup are gone from the change log: their cursors must expire.
      renameChangeLog(db)
      return validTokens(db, Date.now())
    })
    if (held) takeOwner(made, fstatSync(held.fd))
    else if (process.getuid?.() === 0) takeOwner(made, { ...statSync(folder), mode: 0o600 })
    await syncFile(made, onBytes)
    if (held) {
      const replaced = await replace(made, held, kept)
      return { plants, kept: replaced.kept, tokensOfBackup: replaced.keepsTokens ? null : valid }
    }
    if (sidecarsOf(path).length > 0) {
      await keepWal(made, path, kept)
      return { plants, kept, tokensOfBackup: valid }
    }
    placeNew(made, path)
    syncFolder(folder)
    return { plants, kept: null, tokensOfBackup: valid }
  } catch (error) {
    throw explainFailedWrite(error, path)
  } finally {
    if (held) closeSync(held.fd)
  }
}
