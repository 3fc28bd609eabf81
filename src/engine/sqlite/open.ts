// Opening the file of a database: its names, its header, its lock, and its pages in the page cache.

import type { Database } from 'bun:sqlite'
import {
  existsSync,
  fchownSync,
  fstatSync,
  fsyncSync,
  readFileSync,
  readSync,
  statSync,
} from 'node:fs'
import { dirname } from 'node:path'
import { codeOf, OpenError } from '../../errors'
import { openDescriptor } from '../../files/descriptor'
import { dropPageCache, isLocked, isMountRoot, tryLock } from '../../files/libc'
import { kindAt, statOf, targetOf } from '../../files/resolve-path'
import type { StoreUser } from '../store-user'
import { keepChanges } from './change-log'
import { connect, LOCK_PATIENCE, LOCK_PATIENCE_MS, prepareOrClose } from './connection'
import { explainFailedOpen, lockedByAnother } from './errors'
import { fileSize, filesOf, lacksSidecar, type OpenedFile, SIDECAR_SUFFIXES } from './files'
import { APPLICATION_ID, createSchema, notOurs, requireKnown, schemaVersion } from './schema'

// The header of a WAL, and the first bytes of a rollback journal (SQLite file format, sections 4.1 and 3).
const WAL_HEADER_BYTES = 32
const ROLLBACK_JOURNAL_MAGIC = 'd9d505f920a163d7'

// True if a process or the power was lost within a transaction, such as that of the first start, which SQLite undoes.
function hasRollback(path: string): boolean {
  const journal = `${path}-journal`
  return (
    existsSync(journal) && readFileSync(journal).toString('hex', 0, 8) === ROLLBACK_JOURNAL_MAGIC
  )
}

/** Throws an `OpenError` for a WAL with changes whose file is gone: SQLite would remove it beside an empty one. */
function checkLog(path: string): void {
  if (fileSize(path) > 0 || fileSize(`${path}-wal`) <= WAL_HEADER_BYTES) return
  throw new OpenError(
    `${path} is empty or was deleted, but its write-ahead log has changes; put the file back, or restore a backup with "plantstore restore"`,
    true,
  )
}

/** Reads the header (SQLite file format, section 1.3) before SQLite may write anything. */
export function checkHeader({ path, fd }: OpenedFile): void {
  checkLog(path)
  if (fileSize(path) === 0 || hasRollback(path)) return
  const header = Buffer.alloc(100)
  readSync(fd, header, { position: 0 })
  if (header.readUInt32BE(68) !== APPLICATION_ID) throw notOurs(path)
  requireKnown(header.readUInt32BE(60), path)
}

/**
 * The path of a database with links resolved, where SQLite keeps the WAL. Throws an {@link OpenError} for a path that
 * Bun's SQLite would trim, or that names a file beside a database.
 */
export function databasePath(database: string): string {
  const path = targetOf(database)
  const suffix = SIDECAR_SUFFIXES.find((end) => path.endsWith(end))
  const isSidecar = suffix && statOf(path.slice(0, -suffix.length))?.isFile()
  if (isSidecar || path !== path.trimEnd())
    throw new OpenError(`${JSON.stringify(path)} cannot be the name of a database; choose another`)
  return path
}

/**
 * Syncs the unsynced writes of a killed process, so that they can be trusted; and drops the page cache, so that failed
 * writes are not read back. This process must have no connection open.
 */
export function distrustPageCache(path: string): void {
  for (const each of [path, `${path}-wal`]) {
    try {
      using file = openDescriptor(each, 'r+')
      fsyncSync(file.fd)
      dropPageCache(file.fd)
    } catch (error) {
      // The last process to close the database removes its WAL.
      if (codeOf(error) !== 'ENOENT') throw error
    }
  }
}

const LOCK_TRIES = 50
const PAUSE_MS = 20

// Only a daemon and a restore lock the file. A starting daemon waits for a restore, and for a command that looks.
function lock({ path, fd }: OpenedFile): void {
  for (let tries = 1; !tryLock(fd); tries++) {
    if (tries === LOCK_TRIES) {
      throw new OpenError(
        `another plantstore serves ${path} (fuser ${path}); stop it, or name another file with --database`,
      )
    }
    Bun.sleepSync(PAUSE_MS)
  }
}

// Makes an empty file, unless there is one; SQLite syncs its name before it writes to it. Only its user can read it: it
// will have the hashes of tokens.
function makeFile(path: string): void {
  try {
    using file = openDescriptor(path, 'ax', 0o600)
    const { uid, gid } = statSync(dirname(path))
    // The service that works in the folder must be able to write it.
    if (process.getuid?.() === 0) fchownSync(file.fd, uid, gid)
  } catch (error) {
    if (codeOf(error) !== 'EEXIST') throw error
  }
}

/** The rights of a process on the file that it opens. */
type Access = {
  readonly holdsLock?: boolean
  readonly makesDatabase?: boolean
  /** True for a file that a restore is about to replace, whatever its content. */
  readonly isReplaced?: boolean
  /** True for a reader, which needs no lock. */
  readonly isRead?: boolean
}

/** Throws an `OpenError` if an open file was replaced: before it was locked, or before SQLite opened it. */
function requireInPlace({ path, fd }: OpenedFile): void {
  const open = fstatSync(fd)
  const current = statOf(path)
  if (current?.ino !== open.ino || current.dev !== open.dev)
    throw new OpenError(`${path} was just replaced; try again`)
}

/**
 * Opens or creates the file of a database. Closing any descriptor of a file drops all POSIX locks of this process on it,
 * SQLite's too (fcntl(2)): so this one is opened before SQLite opens the file, and closed after.
 */
export function openFile(database: string, access: Access): OpenedFile {
  const { holdsLock, makesDatabase, isReplaced, isRead } = access
  const path = databasePath(database)
  // Checked before opening: opening a pipe would wait for a writer.
  const kind = kindAt(path)
  if (kind !== null) throw new OpenError(`${path} is ${kind}; name a file with --database`)
  try {
    const isMounted = filesOf(path).some(isMountRoot)
    if (!isReplaced) checkLog(path)
    if (makesDatabase) makeFile(path)
    using opened = new DisposableStack()
    const file = { path, ...opened.use(openDescriptor(path, isRead ? 'r' : 'r+')) }
    if (holdsLock) lock(file)
    requireInPlace(file)
    // SQLite finds the write-ahead log by the name of the file: each name would have a log that the others lack.
    if (isMounted || (fstatSync(file.fd).nlink > 1 && !isReplaced)) {
      throw new OpenError(
        `${path} has several names (hard links, or a mount of a single file), but its write-ahead log has only one; run an interrupted restore again, remove the other links (find DIR -samefile ${path}), or mount the folder`,
      )
    }
    if (!isReplaced) checkHeader(file)
    opened.move()
    return file
  } catch (error) {
    if (codeOf(error) === 'ENOENT' && !makesDatabase)
      throw new OpenError(`no database at ${path}; name another with --database`)
    throw explainFailedOpen(error, path, isRead ? 'read' : 'write')
  }
}

/** Creates or upgrades the schema, and begins or ends the change log. Throws SQLITE_BUSY if the database is locked. */
function connectAtOnce(file: OpenedFile, storeUser: StoreUser): Database {
  return prepareOrClose(connect(file.path), (db) => {
    createSchema(db, storeUser.holdsLock)
    db.run('PRAGMA journal_mode = WAL')
    const entries = keepChanges(db, storeUser.keepChanges)
    if (entries !== null) storeUser.log('warn', 'changes-ended', { entries })
    // SQLite creates the WAL at the next read. It must exist to be watched.
    schemaVersion(db)
    // A restore may have replaced it meanwhile.
    requireInPlace(file)
    db.run(LOCK_PATIENCE)
    return db
  })
}

/**
 * Opens the first connection to a file. First drops the page cache of the file, unless a daemon serves it, which has
 * already done so. Waits for locks as long as SQLite would, but without blocking the thread, so that signals are
 * handled.
 */
export async function openDatabase(file: OpenedFile, storeUser: StoreUser): Promise<Database> {
  const { path, fd } = file
  if (storeUser.holdsLock || !isLocked(fd)) distrustPageCache(path)
  const end = performance.now() + LOCK_PATIENCE_MS
  while (performance.now() <= end) {
    try {
      if (!lacksSidecar(file)) return connectAtOnce(file, storeUser)
    } catch (error) {
      if (!codeOf(error).startsWith('SQLITE_BUSY')) throw error
    }
    await Bun.sleep(PAUSE_MS)
    storeUser.stopping.throwIfAborted()
  }
  throw lockedByAnother(path)
}
