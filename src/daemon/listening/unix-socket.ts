// Listens on a unix socket: replaces one left behind by a daemon, but never one in use.

import { chmodSync, closeSync, lstatSync, openSync, unlinkSync } from 'node:fs'
import { basename, dirname, join, resolve } from 'node:path'
import { codeOf, OpenError, reasonOf } from '../../errors'
import { tryLock, watchInode } from '../../files/libc'
import { makePrivateFolder } from '../../files/private-folder'
import { placeNew } from '../../files/replace-file'

const LOCK_TRIES = 50
const LOCK_PAUSE_MS = 20

// Only one daemon at a time may check for a stale socket and remove it.
async function waitForLock(path: string): Promise<Disposable> {
  const fd = openSync(dirname(path), 'r')
  for (let tries = 1; !tryLock(fd); tries++) {
    if (tries === LOCK_TRIES) {
      closeSync(fd)
      throw new OpenError(`another program has locked ${dirname(path)}; try again`)
    }
    await Bun.sleep(LOCK_PAUSE_MS)
  }
  return { [Symbol.dispose]: () => closeSync(fd) }
}

async function isListening(path: string): Promise<boolean> {
  try {
    const socket = await Bun.connect({ unix: path, socket: { data() {} } })
    socket.end()
    return true
  } catch (error) {
    // Other errors, such as a missing permission, do not prove that the socket is stale.
    return codeOf(error) !== 'ECONNREFUSED'
  }
}

async function removeStale(path: string): Promise<void> {
  const stat = lstatSync(path, { throwIfNoEntry: false })
  if (!stat) return
  if (!stat.isSocket()) {
    throw new OpenError(`${path} exists, and is not a socket`)
  }
  if (await isListening(path)) {
    throw new OpenError(`another program listens on ${path}`)
  }
  unlinkSync(path)
}

/**
 * Calls `use` with a private path for a socket, in the folder of `path`, where no other socket is left. Rejects with an
 * {@link OpenError} on failure.
 */
async function withPrivatePath<T>(path: string, use: (privatePath: string) => T): Promise<T> {
  try {
    using _lock = await waitForLock(path)
    await removeStale(path)
    // When Bun stops listening, it removes the file at its original path. By then the socket has been renamed.
    await using own = await makePrivateFolder(dirname(path))
    return use(join(own.path, basename(path)))
  } catch (error) {
    if (error instanceof OpenError) throw error
    throw new OpenError(`cannot listen on ${path}: ${reasonOf(error)}`)
  }
}

/** Rejects with an {@link OpenError} if a socket cannot be bound, before anything else is done. */
export const checkSocket = (path: string): Promise<void> =>
  withPrivatePath(resolve(path), (privatePath) => {
    Bun.serve({ unix: privatePath, fetch: () => new Response() }).stop(true)
  })

/**
 * Calls `listen` with the path of a socket, which is then set to `mode` and renamed. Rejects with an {@link OpenError}
 * on failure.
 */
export function listenAtPath<T>(path: string, mode: number, listen: (path: string) => T) {
  const full = resolve(path)
  const inode = watchInode(full)
  return withPrivatePath(full, (privatePath) => {
    const listener = listen(privatePath)
    chmodSync(privatePath, mode)
    placeNew(privatePath, full)
    const ownInode = inode()
    return {
      listener,
      /** To be called before listening stops: until then, no other file can have the socket's inode. */
      async removeSocket() {
        using _lock = await waitForLock(full)
        if (inode() === ownInode) unlinkSync(full)
      },
    }
  })
}
