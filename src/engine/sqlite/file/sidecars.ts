// The files that SQLite keeps beside a database, and the locks that show whether it is in use.

import { existsSync, readSync } from 'node:fs'
import { OpenError } from '../../../errors'
import { isRangeLocked, setRangeLock } from '../../../files/libc'
import { kindAt } from '../../../files/resolve-path'

/** Suffixes of the sidecars (https://sqlite.org/tempfiles.html). */
export const SIDECAR_SUFFIXES = ['-journal', '-wal', '-shm'] as const

/** The file of a database and its sidecars, existing or not. */
export const filesOf = (path: string): string[] =>
  ['', ...SIDECAR_SUFFIXES].map((suffix) => path + suffix)

/** The database of which a path is a sidecar; null if there is none. */
export function databaseOfSidecar(path: string): string | null {
  const suffix = SIDECAR_SUFFIXES.find((end) => path.endsWith(end))
  const database = suffix === undefined ? '' : path.slice(0, -suffix.length)
  return existsSync(database) && kindAt(database) === null ? database : null
}

// https://sqlite.org/src/file/src/os.h: every connection to a database with a WAL holds SHARED until it closes.
const PENDING_BYTE = 0x40000000
const SHARED_FIRST = PENDING_BYTE + 2
const SHARED_SIZE = 510

/** Keeps others from removing the sidecars, as the last connection does on closing; false if one is doing so. */
export const holdSidecars = (fd: number): boolean =>
  setRangeLock(fd, 'shared', SHARED_FIRST, SHARED_SIZE)

export const releaseSidecars = (fd: number): boolean =>
  setRangeLock(fd, 'none', SHARED_FIRST, SHARED_SIZE)

/** Keeps others from opening a connection until the file is closed; false if one is open already. */
export const excludeConnections = (fd: number): boolean =>
  setRangeLock(fd, 'exclusive', PENDING_BYTE, SHARED_FIRST + SHARED_SIZE - PENDING_BYTE)

// The write version of a database with a WAL (SQLite file format, section 1.3.3).
const WRITE_VERSION_AT = 18
const WITH_WAL = 2

function hasWal(fd: number): boolean {
  const version = Buffer.alloc(1)
  readSync(fd, version, 0, 1, WRITE_VERSION_AT)
  return version[0] === WITH_WAL
}

const isInUse = (fd: number): boolean => hasWal(fd) && isRangeLocked(fd, SHARED_FIRST, SHARED_SIZE)

const removedInUse = (path: string, file: string): OpenError =>
  new OpenError(
    `${path} is in use, but ${file} was removed; restart the programs that use it: fuser ${path}`,
  )

// A connection that is being opened or closed may lack them for a moment.
const TRIES = 50
const PAUSE_MS = 20

/**
 * Rejects with an `OpenError` if a connection is open whose sidecars were removed. SQLite would make new ones, and the
 * changes in one pair would be lost to the other.
 */
export async function requireSidecars(path: string, fd: number): Promise<void> {
  const missingSuffix = () => ['-wal', '-shm'].find((suffix) => !existsSync(path + suffix))
  for (let tries = 1; ; tries++) {
    const suffix = missingSuffix()
    if (suffix === undefined || !isInUse(fd)) return
    if (tries === TRIES) throw removedInUse(path, path + suffix)
    await Bun.sleep(PAUSE_MS)
  }
}

/**
 * Throws an `OpenError` if a connection is open, after a sidecar was lost and the connections of this process were
 * closed: the other one would remove what this process writes.
 */
export function requireUnused(path: string, fd: number): void {
  if (isInUse(fd)) throw removedInUse(path, 'a file beside it')
}
