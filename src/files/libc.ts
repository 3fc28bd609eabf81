// Functions of the C library that Bun and Node lack.

import { dlopen, type FFIFunction, type Library } from 'bun:ffi'
import { statSync } from 'node:fs'
import { codeOf, messageOf, OpenError } from '../errors'

const SYMBOLS = {
  flock: { args: ['i32', 'i32'], returns: 'i32' },
  setenv: { args: ['cstring', 'cstring', 'i32'], returns: 'i32' },
  posix_fadvise: { args: ['i32', 'i64', 'i64', 'i32'], returns: 'i32' },
  statx: { args: ['i32', 'ptr', 'i32', 'u32', 'ptr'], returns: 'i32' },
  _exit: { args: ['i32'], returns: 'void' },
} as const

// The file names of the C library: glibc's and musl's.
const LIBRARIES = ['libc.so.6', `libc.musl-${process.arch === 'arm64' ? 'aarch64' : 'x86_64'}.so.1`]

const LOCK_EX = 2
const LOCK_NB = 4
const LOCK_UN = 8
const POSIX_FADV_DONTNEED = 4
const AT_FDCWD = -100
const STATX_INO = 0x100
const STATX_ATTR_MOUNT_ROOT = 0x2000n

/** Opens the C library and its functions. Throws an `OpenError` if this process may not allocate executable memory. */
export function openLibc<Symbols extends Record<string, FFIFunction>>(
  symbols: Symbols,
): Library<Symbols>['symbols'] {
  for (const name of LIBRARIES) {
    try {
      return dlopen(name, symbols).symbols
    } catch (error) {
      if (codeOf(error) !== 'ERR_DLOPEN_FAILED') {
        throw new OpenError(
          `no executable memory, which plantstore needs (${messageOf(error)}); allow it: remove MemoryDenyWriteExecute= from the unit, raise "ulimit -v", or set SELinux's execmem`,
        )
      }
      // Tries the next name.
    }
  }
  throw new Error(`none of these C libraries can be loaded: ${LIBRARIES.join(', ')}`)
}

let library: Library<typeof SYMBOLS>['symbols'] | undefined

function libc(): Library<typeof SYMBOLS>['symbols'] {
  library ??= openLibc(SYMBOLS)
  return library
}

const NAME_CACHE_SECONDS = '2'

/**
 * Makes Bun resolve names again after 2 seconds instead of 30. Only before the first connection by name: Bun reads the
 * variable then, from the C library. A value that the user has set stays.
 */
export function shortenNameCache(): void {
  const text = (path: string) => Buffer.from(`${path}\0`)
  libc().setenv(text('BUN_CONFIG_DNS_TIME_TO_LIVE_SECONDS'), text(NAME_CACHE_SECONDS), 0)
}

/** Throws an `OpenError` if the functions below cannot be called. */
export const requireLibc = (): void => void libc()

/**
 * Locks an open file exclusively, until it is closed or the process ends (flock(2)); false if another process holds the
 * lock. Throws if the file system has no locks.
 */
export function tryLock(fd: number): boolean {
  const { flock } = libc()
  if (flock(fd, LOCK_EX | LOCK_NB) === 0) return true
  // Unlocking an unlocked file succeeds on every file system with locks.
  if (flock(fd, LOCK_UN) === 0) return false
  throw new Error('its file system does not support locks (flock); use a local disk')
}

/** Releases the lock of an open file. */
export const unlock = (fd: number): boolean => libc().flock(fd, LOCK_UN) === 0

/**
 * Drops the clean pages of an open file from the page cache, so that the next read comes from the disk
 * (posix_fadvise(2)). A page whose write-back failed is marked clean though it never reached the disk: the next reader
 * would trust it (PostgreSQL wiki, "Fsync Errors").
 */
export const dropPageCache = (fd: number): boolean =>
  libc().posix_fadvise(fd, 0, 0, POSIX_FADV_DONTNEED) === 0

/**
 * Returns a function that looks at a path (statx(2)); null if nothing is there. Only the inode's number is requested: a
 * file whose times were requested gets new ones at its next write (multigrain timestamps, since Linux 6.13), so each
 * fsync would have to write the inode too, and take half as long again.
 */
function openStatx(path: string): () => DataView | null {
  const name = Buffer.from(`${path}\0`)
  const answer = new DataView(new ArrayBuffer(256))
  const bytes = new Uint8Array(answer.buffer)
  return () => (libc().statx(AT_FDCWD, name, 0, STATX_INO, bytes) === 0 ? answer : null)
}

/**
 * Returns a function that identifies the current inode at a path; null if there is none. Throws if the file system does
 * not show it.
 */
export function watchInode(path: string): () => string | null {
  const statx = openStatx(path)
  return () => {
    const answer = statx()
    // stx_ino, stx_dev_major and stx_dev_minor; the same layout on every machine.
    if (answer)
      return `${answer.getBigUint64(32, true)}:${answer.getUint32(136, true)}:${answer.getUint32(140, true)}`
    // There is no file, or an error: errno does not survive an FFI call.
    if (statSync(path, { throwIfNoEntry: false }))
      throw new Error(`${path} changed while it was being checked`)
    return null
  }
}

/** True if the file at a path is a mount (since Linux 5.8): its name is in another folder than the file. */
export const isMountRoot = (path: string): boolean =>
  // stx_attributes; the same layout on every machine.
  ((openStatx(path)()?.getBigUint64(8, true) ?? 0n) & STATX_ATTR_MOUNT_ROOT) !== 0n

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
