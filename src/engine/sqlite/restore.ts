// Replaces a database with a backup. Phases:
// - copy: the backup is copied to a private folder beside the database, and checked.
// - fold: the write-ahead log (WAL) of the old database is merged into its file, which is then locked against everyone.
//   Its tokens become those of the copy, which is synced.
// - link: the old database gets its kept name, too. With two names, every command refuses it. If it is too damaged to be
//   folded, what is left beside it gets the kept name, too.
// - rename: the copy takes the path.
//
// Whenever it is killed, the path has the complete old database, one that is refused, or the complete backup: never a
// database beside the WAL of another. Run again, it begins anew. Each phase is on disk before the next.

import { Database } from 'bun:sqlite'
import {
  constants,
  existsSync,
  fchmodSync,
  fchownSync,
  fstatSync,
  linkSync,
  renameSync,
  rmSync,
} from 'node:fs'
import { dirname, join } from 'node:path'
import { codeOf, OpenError, UsageError, writeError } from '../../errors'
import { openDescriptor } from '../../files/descriptor'
import { isOpenElsewhere } from '../../files/libc'
import { makePrivateFolder } from '../../files/private-folder'
import { isSameFile, requireRegular } from '../../files/resolve-path'
import { syncFile, syncFolder } from '../../files/sync'
import { copyDatabase, type OnBytes } from './backup'
import { renameChangeLog } from './change-log'
import { explainFailedOpen, lockedByAnother } from './errors'
import { fileSize, type OpenedFile, SIDECAR_SUFFIXES } from './files'
import { checkHeader, databasePath, openFile } from './open'
import { keepTokens } from './tokens'

// SQLite cannot recover such a database: it is kept unchanged.
const UNRECOVERABLE = /^SQLITE_(CORRUPT|NOTADB|IOERR|ERROR)/

/** Gives the copy the owner and mode of the old database. */
function setOwner(newPath: string, old: OpenedFile): void {
  // The restoring user may not be the one who serves the database, and owns its folder: no link there is followed.
  using copy = openDescriptor(newPath, constants.O_RDONLY | constants.O_NOFOLLOW)
  const { uid, gid, mode } = fstatSync(old.fd)
  try {
    fchownSync(copy.fd, uid, gid)
    fchmodSync(copy.fd, mode & 0o777)
  } catch {
    throw new OpenError(
      `the database belongs to user ${uid}, group ${gid}; restore it as that user`,
    )
  }
}

const sidecarsOf = (path: string) => SIDECAR_SUFFIXES.filter((suffix) => existsSync(path + suffix))

/**
 * Merges the WAL of the old database into its file, and removes it; no other process can open the database until the
 * returned connection is closed. Null if it is damaged. Throws an `OpenError` if it is in use.
 */
function foldLog(file: OpenedFile): Database | null {
  const { path } = file
  try {
    // SQLite would remove the WAL of a file without a header.
    checkHeader(file)
  } catch {
    return null
  }
  const db = new Database(path, { readwrite: true, create: false })
  try {
    db.run('PRAGMA busy_timeout = 1000')
    db.run('PRAGMA journal_mode = DELETE')
    // It would begin a journal beside an empty file.
    db.run('PRAGMA journal_mode = MEMORY')
    db.run('BEGIN EXCLUSIVE')
    // In the meantime, another process may have started to use it, with a new WAL.
    if (!existsSync(`${path}-wal`)) return db
    throw lockedByAnother(path)
  } catch (error) {
    db.close(true)
    if (UNRECOVERABLE.test(codeOf(error))) return null
    throw explainFailedOpen(error, path)
  }
}

/**
 * Gives the copy a new change log, and the tokens of the old database. Returns null; or, if the tokens are the backup's,
 * the names of those that are valid, and may have been revoked since. The copy is neither synced nor in use.
 */
function changeCopy(newPath: string, old: Database | null): readonly string[] | null {
  using db = new Database(newPath, { readwrite: true, create: false })
  db.run('PRAGMA synchronous = OFF')
  renameChangeLog(db)
  return keepTokens(old, db)
}

/** Gives the old database and what is left beside it their kept names. */
function keepOld(path: string, keptPath: string): void {
  linkSync(path, keptPath)
  syncFolder(dirname(path))
  for (const suffix of sidecarsOf(path)) {
    renameSync(path + suffix, keptPath + suffix)
    syncFolder(dirname(path))
  }
}

/**
 * Checks a backup and makes it the database at a path, with the owner and mode of the old one; if there was none, with
 * the folder's owner. `keptPath`: that of the old database, which ends with `suffix`; null if there was none.
 * `tokensOfBackup`: see `changeCopy`. Throws an `OpenError` if the backup is damaged or the database is in use.
 */
export async function restoreDatabase(
  backup: string,
  database: string,
  suffix: string,
  onBytes: OnBytes,
) {
  const path = databasePath(database)
  requireRegular(backup)
  if (isSameFile(backup, path))
    throw new UsageError(`${backup} is the database itself; name a backup`)
  const folder = dirname(path)
  const isNew = !existsSync(path)
  // An empty one if there is none: no other process makes one meanwhile, nor uses the log of one that is gone.
  using file = openFile(path, { holdsLock: true, makesDatabase: true, isReplaced: true })
  try {
    await using own = await makePrivateFolder(folder)
    const newPath = join(own.path, 'restored.db')
    const { plants } = await copyDatabase(backup, newPath, onBytes)
    setOwner(newPath, file)
    using old = foldLog(file)
    if (!old && isOpenElsewhere(file.fd)) throw lockedByAnother(path)
    const tokensOfBackup = changeCopy(newPath, old)
    await syncFile(newPath)
    // The WAL must not reappear after a loss of power.
    syncFolder(folder)
    const isEmpty = fileSize(path) === 0 && sidecarsOf(path).length === 0
    const keptPath = isEmpty ? null : `${path}.${suffix}`
    if (keptPath) keepOld(path, keptPath)
    renameSync(newPath, path)
    syncFolder(folder)
    return { plants, keptPath, tokensOfBackup }
  } catch (error) {
    if (isNew && fileSize(path) === 0) rmSync(path, { force: true })
    throw writeError(error, path)
  }
}
