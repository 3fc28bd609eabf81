// Listens on a unix socket: takes over one that a daemon has left behind, never one on which a program still listens.

import { chmodSync, closeSync, lstatSync, openSync, unlinkSync } from 'node:fs'
import { dirname, resolve } from 'node:path'
import { codeOf, OpenError } from '../errors'
import { tryLock } from '../files/libc'

const LOCK_TRIES = 50
const LOCK_PAUSE_MS = 20

// Only one daemon at a time may look for a stale socket and remove it.
async function lockFolder(path: string): Promise<number> {
  const fd = openSync(dirname(path), 'r')
  for (let tries = 1; !tryLock(fd); tries++) {
    if (tries === LOCK_TRIES) {
      closeSync(fd)
      throw new OpenError(`another program has locked ${dirname(path)}; try again`)
    }
    await Bun.sleep(LOCK_PAUSE_MS)
  }
  return fd
}

async function isListening(path: string): Promise<boolean> {
  try {
    const socket = await Bun.connect({ unix: path, socket: { data() {} } })
    socket.end()
    return true
  } catch (error) {
    // Any other error, such as a lack of permission, does not mean that nobody listens.
    return codeOf(error) !== 'ECONNREFUSED'
  }
}

async function removeStale(path: string): Promise<void> {
  const found = lstatSync(path, { throwIfNoEntry: false })
  if (!found) return
  if (!found.isSocket()) {
    throw new OpenError(`${path} exists and is not a socket; choose another --unix`)
  }
  if (await isListening(path)) {
    throw new OpenError(`another program listens on ${path}; stop it, or choose another --unix`)
  }
  unlinkSync(path)
}

function explain(error: unknown, path: string): OpenError {
  if (error instanceof OpenError) return error
  switch (codeOf(error)) {
    case 'ENOENT':
    case 'ENOTDIR':
      return new OpenError(`the folder ${dirname(path)} does not exist; create it first`)
    case 'EACCES':
    case 'EPERM':
      return new OpenError(`no permission to create the socket ${path} in its folder`)
    case 'ENAMETOOLONG':
      return new OpenError(`the path of a socket may have at most 107 bytes: ${path}`)
    default:
      return new OpenError(`cannot listen on ${path}: ${(error as Error).message}`)
  }
}

/**
 * Calls `listen` for a socket at a path. The socket gets `mode`; until then only this user can use it, because the process
 * has the umask 0077. Rejects with an {@link OpenError} if it cannot listen there.
 */
export async function listenAtPath<T>(path: string, mode: number, listen: () => T): Promise<T> {
  const full = resolve(path)
  let lock: number | undefined
  try {
    lock = await lockFolder(full)
    await removeStale(full)
    const listener = listen()
    chmodSync(full, mode)
    return listener
  } catch (error) {
    throw explain(error, full)
  } finally {
    if (lock !== undefined) closeSync(lock)
  }
}
