// Functions of the C library that Bun and Node lack.

import { dlopen, type Library } from 'bun:ffi'
import { statSync } from 'node:fs'
import { messageOf, OpenError } from '../errors'

const SYMBOLS = {
  flock: { args: ['i32', 'i32'], returns: 'i32' },
  fcntl: { args: ['i32', 'i32', 'ptr'], returns: 'i32' },
  setenv: { args: ['cstring', 'cstring', 'i32'], returns: 'i32' },
  posix_fadvise: { args: ['i32', 'i64', 'i64', 'i32'], returns: 'i32' },
  statx: { args: ['i32', 'ptr', 'i32', 'u32', 'ptr'], returns: 'i32' },
  _exit: { args: ['i32'], returns: 'void' },
} as const

const LOCK_SH = 1
const LOCK_EX = 2
const LOCK_NB = 4
const LOCK_UN = 8
const F_GETLK = 5
const F_WRLCK = 1
const F_UNLCK = 2
const POSIX_FADV_DONTNEED = 4
const AT_FDCWD = -100
const STATX_INO = 0x100
const STATX_ATTR_MOUNT_ROOT = 0x2000n

let library: Library<typeof SYMBOLS>['symbols'] | undefined

/**
 * The C library: glibc, or musl, which takes the name for its own. Throws an `OpenError` if this process may not allocate
 * executable memory.
 */
function libc(): Library<typeof SYMBOLS>['symbols'] {
  try {
    library ??= dlopen('libc.so.6', SYMBOLS).symbols
    return library
  } catch (error) {
    throw new OpenError(
      `no executable memory, which plantstore needs (${messageOf(error)}); allow it: remove MemoryDenyWriteExecute= from the unit, raise "ulimit -v", or set SELinux's execmem`,
    )
  }
}

const cString = (text: string) => Buffer.from(`${text}\0`)

/**
 * Makes Bun resolve names again after 2 seconds instead of 30. Only before the first connection by name: Bun reads the
 * variable then, from the C library. A value that the user has set stays.
 */
export function shortenNameCache(): void {
  libc().setenv(cString('BUN_CONFIG_DNS_TIME_TO_LIVE_SECONDS'), cString('2'), 0)
}

/**
 * Locks an open file exclusively, until it is closed or the process ends (flock(2)); false if another process holds the
 * lock. Throws if the file system has no locks.
 */
export function tryLock(fd: number, kind = LOCK_EX): boolean {
  const { flock } = libc()
  if (flock(fd, kind | LOCK_NB) === 0) return true
  // Unlocking an unlocked file succeeds on every file system with locks.
  if (flock(fd, LOCK_UN) === 0) return false
  throw new Error('its file system does not support locks (flock); use a local disk')
}

/**
 * True if another process holds the lock of an open file, which this one has not locked. It tries a shared lock, as two
 * looks must not disturb each other. Throws as `tryLock` does.
 */
export function isLocked(fd: number): boolean {
  if (!tryLock(fd, LOCK_SH)) return true
  libc().flock(fd, LOCK_UN)
  return false
}

/** True if another process has a POSIX lock on an open file, as each connection of SQLite does (fcntl_locking(2)). */
export function isOpenElsewhere(fd: number): boolean {
  const lock = new Int16Array(16)
  lock[0] = F_WRLCK
  return libc().fcntl(fd, F_GETLK, lock) === 0 && lock[0] !== F_UNLCK
}

/**
 * Drops the clean pages of an open file from the page cache, so that the next read comes from the disk
 * (posix_fadvise(2)). A page whose write-back failed is marked clean though it never reached the disk: the next reader
 * would trust it (PostgreSQL wiki, "Fsync Errors").
 */
export function dropPageCache(fd: number): void {
  libc().posix_fadvise(fd, 0, 0, POSIX_FADV_DONTNEED)
}

// Indexes of struct statx in 64-bit words; the same layout on every machine.
const STATX_ATTRIBUTES = 1
const STATX_INODE = 4
const STATX_DEVICE = 17

/**
 * Returns a function that looks at a path (statx(2)); null if nothing is there. Only the inode's number is requested: a
 * file whose times were requested gets new ones at its next write (multigrain timestamps, since Linux 6.13), so each
 * fsync would have to write the inode too, and take half as long again.
 */
function openStatx(path: string): () => BigUint64Array | null {
  const name = cString(path)
  const stat = new BigUint64Array(32)
  return () => (libc().statx(AT_FDCWD, name, 0, STATX_INO, stat) === 0 ? stat : null)
}

/**
 * Returns a function that identifies the current inode at a path; null if there is none. Throws if the file system does
 * not show it.
 */
export function watchInode(path: string): () => string | null {
  const statx = openStatx(path)
  return () => {
    const stat = statx()
    if (stat) return `${stat[STATX_INODE]}:${stat[STATX_DEVICE]}`
    // There is no file, or an error: errno does not survive an FFI call.
    if (statSync(path, { throwIfNoEntry: false }))
      throw new Error(`${path} changed while it was checked`)
    return null
  }
}

/** True if the file at a path is a mount (since Linux 5.8): its name is in another folder than the file. */
export function isMountRoot(path: string): boolean {
  const attributes = openStatx(path)()?.[STATX_ATTRIBUTES] ?? 0n
  return (attributes & STATX_ATTR_MOUNT_ROOT) !== 0n
}

/**
 * Ends the process without waiting (_exit(2)): Bun's own exit would close databases, and wait for the disk. Returns if
 * that fails.
 */
export function exitAtOnce(code: number): void {
  try {
    libc()._exit(code)
  } catch {
    // The caller exits in Bun's way.
  }
}
