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
  closeSync,
  constants,
  existsSync,
  fchmodSync,
  fchownSync,
  fstatSync,
  renameSync,
  type Stats,
  statSync,
  writeFileSync,
} from 'node:fs'
import { basename, dirname, join } from 'node:path'
import { codeOf, OpenError, UsageError } from '../../../errors'
import { copyBytes } from '../../../files/copy-bytes'
import { openDescriptor } from '../../../files/descriptor'
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
type RestoreResult = {
  readonly plants: number
  /** The path of the old database; null if there was none. */
  readonly keptPath: string | null
  /**
   * The names of tokens that are valid as in the backup, and may have been revoked since; null if the tokens are those
   * of the old database.
   */
  readonly tokensOfBackup: readonly string[] | null
}

// SQLite cannot recover such a database: it is kept unchanged.
const UNRECOVERABLE = /^SQLITE_(CORRUPT|NOTADB|IOERR|ERROR)/

// The restoring user may not be the one who serves the database, and owns its folder: no link there is followed.
function takeOwner(path: string, { uid, gid, mode }: Pick<Stats, 'uid' | 'gid' | 'mode'>): void {
  using file = openDescriptor(path, constants.O_RDONLY | constants.O_NOFOLLOW)
  try {
    const stat = fstatSync(file.fd)
    if (stat.uid !== uid || stat.gid !== gid) fchownSync(file.fd, uid, gid)
    fchmodSync(file.fd, mode & 0o777)
  } catch {
    throw new OpenError(
      `the database belongs to user ${uid}, group ${gid}; restore it as that user`,
    )
  }
}

const sidecarsOf = (path: string) => SIDECAR_SUFFIXES.filter((suffix) => existsSync(path + suffix))

const openLocked = (path: string): OpenedFile | null =>
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
async function exchange(
  newPath: string,
  { path, fd }: OpenedFile,
  keptPath: string,
): Promise<void> {
  renameSync(newPath, keptPath)
  if (!exchangeFiles(keptPath, path)) {
    renameSync(keptPath, newPath)
    const copy = `${newPath}.old`
    await copyBytes(fd, copy)
    takeOwner(copy, fstatSync(fd))
    await syncFile(copy)
    renameSync(copy, keptPath)
    syncFolder(dirname(path))
    renameSync(newPath, path)
  }
  syncFolder(dirname(path))
}

/** Moves the files beside a marker to the old database, then replaces the marker with the new database. */
function completeMove(newPath: string, path: string, keptPath: string): void {
  for (const suffix of sidecarsOf(path)) renameSync(path + suffix, keptPath + suffix)
  syncFolder(dirname(path))
  renameSync(newPath, path)
  syncFolder(dirname(path))
}

async function makeMarker(newPath: string, keptPath: string): Promise<string> {
  const marker = `${newPath}.marker`
  writeFileSync(marker, restoreMarker(basename(keptPath)), { flag: 'wx' })
  await syncFile(marker)
  return marker
}

type ReplaceResult = Pick<RestoreResult, 'keptPath'> & { readonly keepsTokens: boolean }

async function replace(
  newPath: string,
  oldFile: OpenedFile,
  keptPath: string,
): Promise<ReplaceResult> {
  const { path, fd } = oldFile
  const markedName = readRestoreMarker(fd)
  if (markedName !== null) {
    const markedPath = join(dirname(path), markedName)
    completeMove(newPath, path, markedPath)
    return { keptPath: markedPath, keepsTokens: false }
  }
  const old = foldWal(path)
  if (old) {
    try {
      // The WAL must not reappear after a loss of power.
      syncFolder(dirname(path))
      const keepsTokens = changeCopy(newPath, (db) => keepTokens(old, db))
      await syncFile(newPath)
      await exchange(newPath, oldFile, keptPath)
      return { keptPath, keepsTokens }
    } finally {
      old.close(true)
    }
  }
  if (!excludeConnections(fd)) throw lockedByAnother(path)
  const marker = await makeMarker(newPath, keptPath)
  await exchange(marker, oldFile, keptPath)
  completeMove(newPath, path, keptPath)
  return { keptPath, keepsTokens: false }
}

// The database is gone, and only its WAL is left.
async function keepWal(newPath: string, path: string, keptPath: string): Promise<void> {
  const marker = await makeMarker(newPath, keptPath)
  placeNew(marker, path)
  const oldFile = openLocked(path)
  try {
    syncFolder(dirname(path))
    completeMove(newPath, path, keptPath)
  } finally {
    if (oldFile) closeSync(oldFile.fd)
  }
}

// Neither synced nor in use.
function changeCopy<T>(newPath: string, change: (db: Database) => T): T {
  using db = new Database(newPath, { readwrite: true, create: false })
  db.run('PRAGMA synchronous = OFF')
  return change(db)
}

/**
 * Checks a backup and makes it the database at a path, with the owner and mode of the old one; if there was none, with
 * the folder's owner. Throws an `OpenError` if the backup is damaged or the database is in use.
 */
export async function restoreDatabase(
  backup: string,
  database: string,
  suffix: string,
  onBytes: OnBytes,
): Promise<RestoreResult> {
  const path = targetOf(database)
  requireDatabaseName(path)
  const folder = dirname(path)
  const keptPath = `${path}.${suffix}`
  checkFolder(folder)
  requireRegular(backup)
  requireRegular(database)
  if (isSameFile(backup, path))
    throw new UsageError(`${backup} is the database itself; name a backup`)
  const oldFile = openLocked(path)
  try {
    await using own = await makePrivateFolder(folder)
    const newPath = join(own.path, 'restored.db')
    const { plants } = await copyDatabase(backup, newPath, onBytes)
    const tokenNames = changeCopy(newPath, (db) => {
      // The entries after the backup are gone from the change log: their cursors must expire.
      renameChangeLog(db)
      return validTokens(db, Date.now())
    })
    if (oldFile) takeOwner(newPath, fstatSync(oldFile.fd))
    else if (process.getuid?.() === 0) takeOwner(newPath, { ...statSync(folder), mode: 0o600 })
    await syncFile(newPath, onBytes)
    if (oldFile) {
      const result = await replace(newPath, oldFile, keptPath)
      return {
        plants,
        keptPath: result.keptPath,
        tokensOfBackup: result.keepsTokens ? null : tokenNames,
      }
    }
    if (sidecarsOf(path).length > 0) {
      await keepWal(newPath, path, keptPath)
      return { plants, keptPath, tokensOfBackup: tokenNames }
    }
    placeNew(newPath, path)
    syncFolder(folder)
    return { plants, keptPath: null, tokensOfBackup: tokenNames }
  } catch (error) {
    throw explainFailedWrite(error, path)
  } finally {
    if (oldFile) closeSync(oldFile.fd)
  }
}
