// Resolves paths, and refuses those that name no file, or one that must not be written.

import { lstatSync, readlinkSync, type Stats, statSync } from 'node:fs'
import { basename, dirname, join, resolve } from 'node:path'
import { codeOf, OpenError, reasonOf, UsageError } from '../errors'

/** The result of stat() or lstat(); undefined if nothing exists. Throws an `OpenError` if the path cannot be searched. */
export function statOf(path: string, stat = statSync): Stats | undefined {
  try {
    return stat(path, { throwIfNoEntry: false })
  } catch (error) {
    // Bun throws ENOTDIR for a path below a file.
    if (codeOf(error) === 'ENOTDIR') return undefined
    throw new OpenError(`cannot open ${path}: ${reasonOf(error)}`, codeOf(error) === 'EIO')
  }
}

const OTHERS_READ = 0o004

/** True if there is a file, and every user can read it. */
export const isReadByOthers = (path: string): boolean =>
  ((statOf(path)?.mode ?? 0) & OTHERS_READ) !== 0

const STICKY = 0o1000

/**
 * Throws an `OpenError` for what another user has put into a shared folder, such as /tmp. `trusted`: a user who may.
 */
function requireOwn(path: string, { uid }: Stats, trusted?: number): void {
  const isShared = (statSync(dirname(path)).mode & STICKY) !== 0
  if (isShared && uid !== process.getuid?.() && uid !== trusted)
    throw new OpenError(`${path} belongs to user ${uid}, in a shared folder; name another file`)
}

// The open files of a process (proc_pid_fd(5)).
const OPEN_FILE = /^\/proc\/(\d+)\/fd\/(\d+)$/

/** The number of an open file of this process, for a path such as /dev/stdout; null for any other path. */
export function descriptorOf(path: string): number | null {
  const [, pid, fd] = OPEN_FILE.exec(targetOf(path)) ?? []
  return Number(pid) === process.pid ? Number(fd) : null
}

/**
 * The path with links resolved, whether a file exists or not. The link of an open file (/proc/PID/fd/N) is not
 * followed. Throws an `OpenError` for a link that another user than the owner has put into a shared folder
 * (`fs.protected_symlinks`, https://docs.kernel.org/admin-guide/sysctl/fs.html), and for links in a circle.
 */
export function targetOf(path: string): string {
  const full = resolve(path)
  // Throws for a circle.
  statOf(full)
  const parent = dirname(full)
  if (parent === full) return full
  const folder = targetOf(parent)
  const location = join(folder, basename(full))
  const link = statOf(location, lstatSync)
  if (!link?.isSymbolicLink() || OPEN_FILE.test(location)) return location
  requireOwn(location, link, statSync(folder).uid)
  return targetOf(resolve(folder, readlinkSync(location)))
}

/** True if two paths name one file, by links or hard links too. */
export function isSameFile(path: string, other: string): boolean {
  const one = statOf(path)
  const two = statOf(other)
  const isSameInode = one !== undefined && one.ino === two?.ino && one.dev === two.dev
  return isSameInode || targetOf(path) === targetOf(other)
}

/**
 * The path to write a file to, with links resolved. Throws a `UsageError` if it is one of `otherFiles` of the command,
 * and an `OpenError` for another user's file in a shared folder.
 */
export function pathToWrite(path: string, otherFiles: readonly string[]): string {
  if (otherFiles.some((file) => isSameFile(path, file)))
    throw new UsageError(`${path} is in use by this command; name another file`)
  const target = targetOf(path)
  const stat = statOf(target)
  if (stat) requireOwn(target, stat)
  return target
}

/**
 * The kind of file at a path, with links resolved; null for a regular file, or none. The link of an open file is neither.
 * Opens nothing.
 */
export function kindAt(path: string): 'a folder' | 'not a regular file' | null {
  const stat = statOf(targetOf(path), lstatSync)
  if (!stat || stat.isFile()) return null
  return stat.isDirectory() ? 'a folder' : 'not a regular file'
}

/** Throws a `UsageError` unless a path names a regular file or none. */
export function requireRegular(path: string): void {
  const kind = kindAt(path)
  if (kind !== null) throw new UsageError(`${path} is ${kind}; name a file`)
}
