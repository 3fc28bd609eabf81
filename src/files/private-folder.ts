// A folder for unfinished files: private to this user, with a random name, locked while in use.

import { closeSync, constants, fstatSync, mkdtempSync, openSync, rmSync, statSync } from 'node:fs'
import { readdir, rm } from 'node:fs/promises'
import { join } from 'node:path'
import { tryLock } from './libc'

const PREFIX = '.plantstore-'
const TRIES = 10

type LockedFolder = { readonly path: string; readonly fd: number }

/** Locks a folder; null if a running process uses it, or it is gone. */
function lockFolder(path: string): LockedFolder | null {
  let fd: number
  try {
    fd = openSync(path, constants.O_RDONLY | constants.O_DIRECTORY | constants.O_NOFOLLOW)
  } catch {
    return null
  }
  try {
    // The folder may have been removed between opening and locking.
    if (tryLock(fd) && statSync(path, { throwIfNoEntry: false })?.ino === fstatSync(fd).ino) {
      return { path, fd }
    }
  } catch {
    // On a file system without locks, the use of the folder is unknown.
  }
  closeSync(fd)
  return null
}

// Asynchronous, because a daemon serves in the meantime: the files may be large, and the disk may hang.
async function removeLockedFolder({ path, fd }: LockedFolder): Promise<void> {
  // Failures are left to the next process.
  await rm(path, { recursive: true, force: true }).catch(() => {})
  closeSync(fd)
}

/** Removes private folders left behind by killed processes. Never rejects. */
export async function removeLeftovers(parent: string): Promise<void> {
  try {
    const names = (await readdir(parent)).filter((name) => name.startsWith(PREFIX))
    for (const path of names.map((name) => join(parent, name))) {
      const leftover = lockFolder(path)
      if (!leftover) continue
      if (fstatSync(leftover.fd).uid === process.getuid?.()) await removeLockedFolder(leftover)
      else closeSync(leftover.fd)
    }
  } catch {
    // The folder is unreadable.
  }
}

function createLockedFolder(parent: string): LockedFolder {
  for (let tries = 1; ; tries++) {
    const path = mkdtempSync(join(parent, PREFIX))
    const folder = lockFolder(path)
    if (folder) return folder
    // Another process removed it as a leftover; or there are no locks here.
    if (tries < TRIES) rmSync(path, { recursive: true, force: true })
    else return { path, fd: openSync(path, 'r') }
  }
}

/** Creates a private folder within `parent`; disposing removes it. Removes leftovers first. */
export async function makePrivateFolder(
  parent: string,
): Promise<AsyncDisposable & { readonly path: string }> {
  await removeLeftovers(parent)
  const folder = createLockedFolder(parent)
  return { path: folder.path, [Symbol.asyncDispose]: () => removeLockedFolder(folder) }
}
