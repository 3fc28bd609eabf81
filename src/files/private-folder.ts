// A folder for unfinished files: private to this user, with a random name, locked while in use.

import { accessSync, constants, existsSync, fstatSync, mkdtempSync, readdirSync } from 'node:fs'
import { rm } from 'node:fs/promises'
import { join } from 'node:path'
import { writeError } from '../errors'
import { openDescriptor } from './descriptor'
import { tryLock } from './libc'

// No folder of a user may have it: what a killed process has left is removed with all that is in it.
const PREFIX = '.plantstore-tmp-'
const FLAGS = constants.O_RDONLY | constants.O_DIRECTORY | constants.O_NOFOLLOW

// Asynchronous, because a daemon serves in the meantime: the files may be large, and the disk may hang.
const removeFolder = (path: string): Promise<void> => rm(path, { recursive: true, force: true })

// Synchronous: a start would begin the threads of asynchronous files for it.
function leftoversIn(parent: string): string[] {
  try {
    return readdirSync(parent).filter((name) => name.startsWith(PREFIX))
  } catch {
    return []
  }
}

/** Removes private folders left behind by killed processes. Never rejects: a failure is left to the next process. */
export async function removeLeftovers(parent: string): Promise<void> {
  for (const name of leftoversIn(parent)) {
    try {
      using folder = openDescriptor(join(parent, name), FLAGS)
      const isOwn = fstatSync(folder.fd).uid === process.getuid?.()
      if (isOwn && tryLock(folder.fd)) await removeFolder(join(parent, name))
    } catch {
      // It is gone or unreadable, or on a file system without locks: its use is unknown.
    }
  }
}

/** Throws an `OpenError` unless this user can write to a folder. */
export function checkFolder(folder: string): void {
  try {
    // With a slash, a file is no folder (path_resolution(7)).
    accessSync(`${folder}/`, constants.W_OK)
  } catch (error) {
    throw writeError(error, `to folder ${folder}`)
  }
}

/** Locks an open folder; false if another process removes it as a leftover. */
function lockFolder(path: string, fd: number): boolean {
  try {
    return tryLock(fd) && existsSync(path)
  } catch {
    // On a file system without locks, no process removes leftovers.
    return true
  }
}

/** Creates a private folder within `parent`; disposing removes it. Removes leftovers first. */
export async function makePrivateFolder(
  parent: string,
): Promise<AsyncDisposable & { readonly path: string }> {
  await removeLeftovers(parent)
  const path = mkdtempSync(join(parent, PREFIX))
  const folder = openDescriptor(path, FLAGS)
  if (!lockFolder(path, folder.fd)) {
    folder[Symbol.dispose]()
    return makePrivateFolder(parent)
  }
  return {
    path,
    async [Symbol.asyncDispose]() {
      await removeFolder(path).catch(() => {})
      folder[Symbol.dispose]()
    },
  }
}
