// What Bun and Node have no call for, of the C library.

import { dlopen, type FFIFunction, type Library } from 'bun:ffi'
import { statSync } from 'node:fs'

const symbols = {
  fcntl: { args: ['i32', 'i32', 'ptr'], returns: 'i32' },
  flock: { args: ['i32', 'i32'], returns: 'i32' },
  posix_fadvise: { args: ['i32', 'i64', 'i64', 'i32'], returns: 'i32' },
  sync_file_range: { args: ['i32', 'i64', 'i64', 'u32'], returns: 'i32' },
  syscall: { args: ['i64', 'i64', 'ptr', 'i64', 'ptr', 'i64'], returns: 'i64' },
  statx: { args: ['i32', 'ptr', 'i32', 'u32', 'ptr'], returns: 'i32' },
  _exit: { args: ['i32'], returns: 'void' },
} as const

// The C library by the names that glibc and musl give it.
const names = ['libc.so.6', `libc.musl-${process.arch === 'arm64' ? 'aarch64' : 'x86_64'}.so.1`]

const LOCK_EX = 2
const LOCK_NB = 4
const LOCK_UN = 8
const POSIX_FADV_DONTNEED = 4
// SYNC_FILE_RANGE_WAIT_BEFORE, _WRITE and _WAIT_AFTER.
const WRITE_AND_WAIT = 7
const F_OFD_SETLK = 37
const F_RDLCK = 0
const F_WRLCK = 1
const F_UNLCK = 2
// By its number: musl has no function for it. (renameat2(2), since Linux 3.15.)
const SYS_RENAMEAT2 = process.arch === 'arm64' ? 276 : 316
const RENAME_NOREPLACE = 1
const RENAME_EXCHANGE = 2
const AT_FDCWD = -100
const STATX_INO = 0x100

/** Opens the C library for calls of its functions. */
export function openLibc<Symbols extends Record<string, FFIFunction>>(
  symbols: Symbols,
): Library<Symbols>['symbols'] {
  for (const name of names) {
    try {
      return dlopen(name, symbols).symbols
    } catch {
      // Not this one: try the next name.
    }
  }
  throw new Error(`none of these C libraries can be loaded: ${names.join(', ')}`)
}

let opened: Library<typeof symbols>['symbols'] | undefined

function libc(): Library<typeof symbols>['symbols'] {
  opened ??= openLibc(symbols)
  return opened
}

/**
 * Takes the exclusive lock of an open file, until it is closed or the process ends; false where another process holds
 * it (flock(2)). Throws where the file system has no locks.
 */
export function tryLock(fd: number): boolean {
  const { flock } = libc()
  if (flock(fd, LOCK_EX | LOCK_NB) === 0) return true
  // To unlock what is not locked succeeds wherever there are locks.
  if (flock(fd, LOCK_UN) === 0) return false
  throw new Error('its file system does not support locks (flock); use a local disk')
}

/** Releases the lock of an open file. */
export const unlock = (fd: number): boolean => libc().flock(fd, LOCK_UN) === 0

const rangeLocks = { shared: F_RDLCK, exclusive: F_WRLCK, none: F_UNLCK } as const

/**
 * Sets the lock of a range of an open file, which excludes the POSIX locks of others (fcntl(2), open file description
 * locks); false where another process holds one that excludes it.
 */
export function setRangeLock(
  fd: number,
  lock: keyof typeof rangeLocks,
  start: number,
  length: number,
): boolean {
  // struct flock: l_type, l_whence, l_start, l_len, l_pid; laid out alike on every 64-bit machine.
  const range = new DataView(new ArrayBuffer(32))
  range.setInt16(0, rangeLocks[lock], true)
  range.setBigInt64(8, BigInt(start), true)
  range.setBigInt64(16, BigInt(length), true)
  return libc().fcntl(fd, F_OFD_SETLK, new Uint8Array(range.buffer)) === 0
}

function renameat2(from: string, to: string, flags: number): boolean {
  const [source, target] = [Buffer.from(`${from}\0`), Buffer.from(`${to}\0`)]
  const args = [SYS_RENAMEAT2, AT_FDCWD, source, AT_FDCWD, target, flags] as const
  return libc().syscall(...args) === 0n
}

/** Gives a file another name, unless that is taken; false where it is, or the file system cannot promise it. */
export const renameWithoutReplacing = (from: string, to: string): boolean =>
  renameat2(from, to, RENAME_NOREPLACE)

/** Exchanges the names of two files in one step; false where the file system cannot. */
export const exchangeFiles = (one: string, other: string): boolean =>
  renameat2(one, other, RENAME_EXCHANGE)

/**
 * Makes the next read of an open file come from the disk: drops its clean pages from the page cache (posix_fadvise(2)).
 *
 * A page whose write-back failed is marked clean though it never reached the disk, and would be trusted by whoever
 * reads it next. (PostgreSQL wiki, "Fsync Errors".)
 */
export const dropPageCache = (fd: number): boolean =>
  libc().posix_fadvise(fd, 0, 0, POSIX_FADV_DONTNEED) === 0

/**
 * Has a part of an open file written from the page cache to the disk, and waits for that (sync_file_range(2)). It makes
 * nothing durable: it leaves less to the fsync that does.
 */
export const writeBack = (fd: number, offset: number, bytes: number): boolean =>
  libc().sync_file_range(fd, offset, bytes, WRITE_AND_WAIT) === 0

/**
 * What tells the inode of a path on its device, asked again and again; null where there is nothing (statx(2)). Throws
 * where the file system cannot tell.
 *
 * Of the inode, its number only: a file whose times were asked for gets new ones at its next write (multigrain
 * timestamps, since Linux 6.13), and then each fsync has to write its inode too, which takes half as long again.
 */
export function watchInode(path: string): () => string | null {
  const name = Buffer.from(`${path}\0`)
  const answer = new DataView(new ArrayBuffer(256))
  const bytes = new Uint8Array(answer.buffer)
  return () => {
    // stx_ino, stx_dev_major and stx_dev_minor, laid out alike on every machine.
    if (libc().statx(AT_FDCWD, name, 0, STATX_INO, bytes) === 0) {
      return `${answer.getBigUint64(32, true)}:${answer.getUint32(136, true)}:${answer.getUint32(140, true)}`
    }
    // Nothing there, or an error: errno does not outlive a call by FFI.
    if (statSync(path, { throwIfNoEntry: false })) throw new Error(`${path} came and went`)
    return null
  }
}

/** Ends the process without waiting for anything (_exit(2)): Bun's own exit closes databases, and waits for their disk. */
export const exitAtOnce = (code: number): void => libc()._exit(code)
