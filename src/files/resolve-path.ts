// Resolves paths, and checks that a file may be created there.

import { accessSync, constants, lstatSync, readlinkSync, type Stats, statSync } from 'node:fs'
import { basename, dirname, join, resolve } from 'node:path'
import { codeOf, OpenError, reasonOf, UsageError } from '../errors'

const MAX_LINKS = 40
const STICKY = 0o1000
const OTHERS_WRITE = 0o002

/**
 * True if another user may have planted a file in a shared folder, such as /tmp, for us to write to: the rule of
 * `fs.protected_symlinks` (https://docs.kernel.org/admin-guide/sysctl/fs.html).
 */
export const isPlanted = (file: Stats, folder: Stats): boolean =>
  (folder.mode & STICKY) !== 0 &&
  (folder.mode & OTHERS_WRITE) !== 0 &&
  file.uid !== folder.uid &&
  file.uid !== process.getuid?.()

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

// The open files of a process (proc_pid_fd(5)).
const OPEN_FILE = /^\/proc\/(\d+)\/fd\/(\d+)$/

/** The number of an open file of this process, for a path such as /dev/stdout; null for any other path. */
export function descriptorOf(path: string): number | null {
  const [, pid, fd] = OPEN_FILE.exec(targetOf(path)) ?? []
  return Number(pid) === process.pid ? Number(fd) : null
}

/**
 * The path with links resolved, whether a file exists or not. The link of an open file (/proc/PID/fd/N) is not
 * followed. Throws an `OpenError` for a link that another user has put into a shared folder, and for too many links.
 */
export function targetOf(path: string, links = 0): string {
  const full = resolve(path)
  const parent = dirname(full)
  if (parent === full) return full
  const folder = targetOf(parent, links)
  const location = join(folder, basename(full))
  const stat = statOf(location, lstatSync)
  if (!stat?.isSymbolicLink() || OPEN_FILE.test(location)) return location
  if (isPlanted(stat, lstatSync(folder))) {
    throw new OpenError(
      `${location} is a link that user ${stat.uid} made in a shared folder; not followed`,
    )
  }
  if (links === MAX_LINKS) throw new OpenError(`${path}: too many links`)
  return targetOf(resolve(folder, readlinkSync(location)), links + 1)
}

/** The kind of file at a path, such as 'a device'; null for a regular file, or none. Opens nothing. */
export function kindAt(path: string): string | null {
  const stat = statOf(path)
  if (!stat || stat.isFile()) return null
  if (stat.isDirectory()) return 'a folder'
  if (stat.isFIFO()) return 'a pipe'
  return stat.isSocket() ? 'a socket' : 'a device'
}

/** Throws a `UsageError` unless a path names a regular file or none. Open files of a process are refused too. */
export function requireRegular(path: string): void {
  const target = targetOf(path)
  const kind = OPEN_FILE.test(target) ? 'an open file of a process' : kindAt(target)
  if (kind !== null) throw new UsageError(`${path} is ${kind}; name a file`)
}

/** True if two paths name one file, by links or hard links too. */
export function isSameFile(path: string, other: string): boolean {
  const [one, two] = [statOf(path), statOf(other)]
  const isSameInode = one !== undefined && one.ino === two?.ino && one.dev === two.dev
  return isSameInode || targetOf(path) === targetOf(other)
}

/** Throws a `UsageError` if a path is one of some files. */
export function requireUnused(path: string, files: readonly string[]): void {
  if (files.some((file) => isSameFile(path, file)))
    throw new UsageError(`${path} is in use by this command; name another file`)
}

/** Throws an `OpenError` if no file can be created in a folder. */
export function checkFolder(folder: string): void {
  const stat = statOf(folder)
  if (!stat) throw new OpenError(`folder ${folder} does not exist`)
  if (!stat.isDirectory()) throw new OpenError(`${folder} is not a folder`)
  try {
    accessSync(folder, constants.W_OK)
  } catch (error) {
    throw new OpenError(`cannot write to folder ${folder}: ${reasonOf(error)}`)
  }
}

/** Throws an `OpenError` for another user's file in a sticky folder, which rename(2) may not replace. */
export function checkOwner(path: string): void {
  const [file, folder, user] = [statOf(path), statSync(dirname(path)), process.getuid?.()]
  const isOurs = user === 0 || user === folder.uid || user === (file?.uid ?? user)
  if ((folder.mode & STICKY) !== 0 && !isOurs)
    throw new OpenError(`${path} belongs to another user, in a shared folder; name another file`)
}
