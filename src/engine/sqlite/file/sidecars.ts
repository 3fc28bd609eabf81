// The files that SQLite keeps beside a database, and the locks that show whether it is in use.

import { existsSync } from 'node:fs'
import { setRangeLock } from '../../../files/libc'
import { kindAt } from '../../../files/resolve-path'

/** Suffixes of the sidecars (https://sqlite.org/tempfiles.html). */
export const SIDECAR_SUFFIXES = ['-journal', '-wal', '-shm'] as const

/** The file of a database and its sidecars, existing or not. */
export const filesOf = (path: string): string[] =>
  ['', ...SIDECAR_SUFFIXES].map((suffix) => path + suffix)

/** The database of which a path is a sidecar; null if there is none. */
export function databaseBeside(path: string): string | null {
  const suffix = SIDECAR_SUFFIXES.find((it) => path.endsWith(it))
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
