// The file of a database: its path, its header, its lock, its inode, and its pages in the page cache.

import {
  closeSync,
  existsSync,
  fstatSync,
  fsyncSync,
  openSync,
  readSync,
  realpathSync,
  statfsSync,
  statSync,
} from 'node:fs'
import { dirname, resolve } from 'node:path'
import { codeOf, OpenError } from '../../../errors'
import { openDescriptor } from '../../../files/descriptor'
import { dropPageCache, isMountRoot, requireLibc, tryLock, watchInode } from '../../../files/libc'
import { lockHolder } from '../../../files/lock-holder'
import { giveAsRoot } from '../../../files/owner'
import { kindAt } from '../../../files/resolve-path'
import { syncFolder } from '../../../files/sync'
import { explainFailedOpen } from './errors'
import { APPLICATION_ID, requireKnown, SCHEMA_VERSION } from './migrations'
import { readRestoreMarker } from './restore-marker'
import { databaseOfSidecar, filesOf } from './sidecars'

/** The size of a file in bytes; 0 if it does not exist. */
export function fileSize(path: string): number {
  return statSync(path, { throwIfNoEntry: false })?.size ?? 0
}

/** The free bytes for this user on the file system of a file; null if unknown. */
export function freeBytes(path: string): number | null {
  try {
    const { bavail, bsize } = statfsSync(dirname(path))
    return bavail * bsize
  } catch {
    return null
  }
}

// The header of a WAL, and the first bytes of a rollback journal (SQLite file format, sections 4.1 and 3).
const WAL_HEADER_BYTES = 32
const ROLLBACK_JOURNAL_MAGIC = 'd9d505f920a163d7'

// True if a rollback journal belongs to a transaction that began with an empty file: SQLite undoes it by truncating the
// file.
function beganEmpty(rollbackJournal: string): boolean {
  if (!existsSync(rollbackJournal)) return false
  using file = openDescriptor(rollbackJournal, 'r')
  const header = Buffer.alloc(20)
  readSync(file.fd, header, 0, 20, 0)
  return header.toString('hex', 0, 8) === ROLLBACK_JOURNAL_MAGIC && header.readUInt32BE(16) === 0
}

// Reads the header (SQLite file format, section 1.3) before SQLite may write anything; returns the schema version.
function checkHeader(fd: number, path: string): number {
  const header = Buffer.alloc(100)
  const size = fstatSync(fd).size
  if (size === 0) {
    // SQLite would remove the WAL of an empty file.
    if (fileSize(`${path}-wal`) <= WAL_HEADER_BYTES) return 0
    throw new OpenError(
      `${path} is empty or was deleted, but its write-ahead log ${path}-wal has changes; put the file back, or restore a backup with "plantstore restore"`,
      true,
    )
  }
  const bytesRead = readSync(fd, header, 0, 100, 0)
  const isDatabase = bytesRead === 100 && header.toString('latin1', 0, 16) === 'SQLite format 3\0'
  if (!isDatabase && readRestoreMarker(fd) !== null) {
    throw new OpenError(`a restore of ${path} was interrupted; run "plantstore restore" again`)
  }
  // Power was lost during the first start: the header lacks its last field, which SQLite always sets. The rollback
  // journal undoes that.
  if (header.readUInt32BE(96) === 0 && beganEmpty(`${path}-journal`)) return 0
  if (!isDatabase)
    throw new OpenError(`${path} is not a database; name another file with --database`)
  if (header.readUInt32BE(68) !== APPLICATION_ID) {
    throw new OpenError(
      `${path} is a database of another program; name another file with --database`,
    )
  }
  const version = header.readUInt32BE(60)
  requireKnown(version, path)
  const pageSize = header.readUInt16BE(16) === 1 ? 65_536 : header.readUInt16BE(16)
  const missing = header.readUInt32BE(28) * pageSize - size
  // With a WAL, a file may lack pages that the WAL still holds.
  if (missing > 0 && !existsSync(`${path}-journal`) && fileSize(`${path}-wal`) === 0) {
    throw new OpenError(
      `${path} is damaged: ${missing} bytes are missing at its end; restore a backup with "plantstore restore"`,
      true,
    )
  }
  return version
}

/**
 * Throws an {@link OpenError} for a path that cannot be a database's: it ends in white space, which Bun's SQLite trims,
 * or is that of a file which SQLite keeps beside a database.
 */
export function requireDatabaseName(path: string): void {
  if (path !== path.trimEnd())
    throw new OpenError(`the path ${JSON.stringify(path)} ends in white space; choose another`)
  const database = databaseOfSidecar(path)
  if (database !== null)
    throw new OpenError(`${path} is a part of the database ${database}; name that`)
}

// Checked before opening: opening a pipe would wait for a writer.
function requireRegularFile(path: string): void {
  const kind = kindAt(path)
  if (kind !== null) throw new OpenError(`${path} is ${kind}; name a file with --database`)
}

// SQLite finds the write-ahead log by the name of the file: with two names, each has a log that the other lacks.
function requireOneName(fd: number, path: string): void {
  const mounted = filesOf(path).find(isMountRoot)
  if (mounted !== undefined) {
    throw new OpenError(
      `${mounted} is mounted as a single file, but a database and its write-ahead log, which has the newest plants, belong together; mount the folder that it is in`,
    )
  }
  const { nlink } = fstatSync(fd)
  if (nlink > 1) {
    throw new OpenError(
      `${path} has ${nlink} hard links, and only one of them has the write-ahead log with the newest plants; remove the others: find DIR -samefile ${path}`,
    )
  }
}

/** A database file that was opened for reading, at its path with links resolved. */
export type ReadableFile = Pick<OpenedFile, 'path' | 'fd'>

/**
 * Opens a file for reading. Throws an {@link OpenError} if it cannot be a database of this program, by its header and
 * its names.
 */
export function openReadable(path: string): ReadableFile {
  let full = resolve(path)
  let fd: number | undefined
  try {
    full = realpathSync(full)
    requireRegularFile(full)
    fd = openSync(full, 'r')
    requireOneName(fd, full)
    if (fstatSync(fd).size === 0) throw new OpenError(`${full} is empty; name another file`)
    checkHeader(fd, full)
    return { path: full, fd }
  } catch (error) {
    if (fd !== undefined) closeSync(fd)
    if (codeOf(error) === 'ENOENT') throw new OpenError(`no database at ${full}; check the path`)
    throw explainFailedOpen(error, full, 'read')
  }
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
      if (codeOf(error) !== 'ENOENT') throw error
    }
  }
}

/** A database file that this process has opened. */
export type OpenedFile = {
  readonly path: string
  readonly fd: number
  /** True if this process holds the file's lock. */
  readonly isLocked: boolean
  /** The schema version of its header; 0: none yet. Its WAL may hold a newer one. */
  readonly schemaVersion: number
}

// A command holds the lock while it opens the database: a starting daemon waits for it.
const LOCK_TRIES = 50
const LOCK_PAUSE_MS = 20

function waitForLock(fd: number): boolean {
  for (let tries = 1; !tryLock(fd); tries++) {
    if (tries === LOCK_TRIES) return false
    Bun.sleepSync(LOCK_PAUSE_MS)
  }
  return true
}

export const isOld = (version: number): boolean => version > 0 && version < SCHEMA_VERSION

// Makes an empty file, or leaves the one that exists. Only its user can read it: it will have the hashes of tokens.
function makeFile(path: string): void {
  try {
    using file = openDescriptor(path, 'ax', 0o600)
    giveAsRoot(file.fd, statSync(dirname(path)))
  } catch (error) {
    if (codeOf(error) !== 'EEXIST') throw error
    // A link may lead to a file that does not exist yet.
    closeSync(openSync(path, 'a+', 0o600))
  }
}

type OpenFileOptions = {
  /** Waits for the file's lock, and holds it until the file is closed or the process ends: one daemon per file. */
  readonly holdsLock: boolean
  readonly makesDatabase: boolean
  /** False for a file that is about to be replaced, whatever its content. */
  readonly checksHeader?: boolean
}

/**
 * Opens or creates the file of a database, at its path with links resolved, where SQLite keeps the WAL. Closing any
 * descriptor of a file drops all POSIX locks of this process on it, SQLite's too (fcntl(2)): so this one is opened
 * before SQLite opens the file, and closed after.
 */
export function openFile(
  path: string,
  { holdsLock, makesDatabase, checksHeader = true }: OpenFileOptions,
): OpenedFile {
  let full = resolve(path)
  let fd: number
  requireDatabaseName(full)
  // Before a file is created.
  requireLibc()
  try {
    requireRegularFile(full)
    const isNew = fileSize(full) === 0
    if (makesDatabase) makeFile(full)
    full = realpathSync(full)
    requireDatabaseName(full)
    fd = openSync(full, 'r+')
    if (makesDatabase && isNew) syncFolder(dirname(full))
  } catch (error) {
    if (!makesDatabase && codeOf(error) === 'ENOENT') {
      throw new OpenError(`no database at ${full}; name it with --database`)
    }
    throw error instanceof OpenError ? error : explainFailedOpen(error, full)
  }
  try {
    const isFree = holdsLock ? waitForLock(fd) : tryLock(fd)
    if (holdsLock && !isFree) {
      const holder = lockHolder(fd)
      const process = holder === null ? '' : ` (process ${holder})`
      throw new OpenError(
        `another plantstore${process} serves ${full}; stop it, or name another file with --database`,
      )
    }
    // The file may have been replaced between opening and locking.
    const fdStat = fstatSync(fd)
    const pathStat = statSync(full, { throwIfNoEntry: false })
    if (pathStat?.ino !== fdStat.ino || pathStat.dev !== fdStat.dev) {
      throw new OpenError(`${full} was just replaced; try again`)
    }
    requireOneName(fd, full)
    const schemaVersion = checksHeader ? checkHeader(fd, full) : 0
    const isLocked = isFree || (isOld(schemaVersion) && waitForLock(fd))
    return { path: full, fd, isLocked, schemaVersion }
  } catch (error) {
    closeSync(fd)
    throw explainFailedOpen(error, full)
  }
}

/**
 * Watches the files of an open database: the returned function names the first that was moved, replaced or deleted
 * since; null: none was.
 */
export function watchFiles(path: string): () => 'database' | 'log' | 'index' | null {
  const names = ['database', 'log', 'index'] as const
  const inodes = [path, `${path}-wal`, `${path}-shm`].map(watchInode)
  const initialInodes = inodes.map((inode) => inode())
  return () => names[inodes.findIndex((inode, index) => inode() !== initialInodes[index])] ?? null
}
