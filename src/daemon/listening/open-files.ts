// The open files and connections of this process, and their limit.

import { closeSync, existsSync, fstatSync, openSync, readFileSync } from 'node:fs'
import { readdir } from 'node:fs/promises'
import { codeOf } from '../../errors'
import type { Log } from '../../log'
import type { OpenFiles } from '../../metrics'

// The folder that lists the open files of this process.
const OPEN_FILES = '/proc/self/fd'

const LIMIT = /^Max open files +(\d+)/m
// Inspecting a file takes about a microsecond: requests are served in between.
const FILES_PER_TURN = 500
const CHECK_EVERY_MS = 1000
const REPEAT_AFTER_MS = 60_000

/** True if an open file of this process is a socket. */
function isSocket(fd: string): boolean {
  try {
    return fstatSync(Number(fd)).isSocket()
  } catch {
    // The file was closed in the meantime.
    return false
  }
}

const isExhausted = (error: unknown): boolean => ['EMFILE', 'ENFILE'].includes(codeOf(error))

async function count(): Promise<{ readonly open: number; readonly sockets: number }> {
  const all = await readdir(OPEN_FILES)
  let sockets = 0
  for (let start = 0; start < all.length; start += FILES_PER_TURN) {
    sockets += all.slice(start, start + FILES_PER_TURN).filter(isSocket).length
    await Bun.sleep(0)
  }
  return { open: all.length, sockets }
}

/**
 * Logs, at most once a minute, that no more files can be opened; returns a count shared by simultaneous callers. Call
 * it before the daemon listens: sockets open by then, and the listening one, are not connections. Without `/proc`, as
 * in a chroot, nothing is counted.
 */
export async function watchOpenFiles(log: Log): Promise<() => Promise<OpenFiles | null>> {
  if (!existsSync(OPEN_FILES)) return async () => null
  const limit = Number(LIMIT.exec(readFileSync('/proc/self/limits', 'utf8'))?.[1])
  const own = (await count()).sockets + 1
  let nextLine = 0
  const checkLimit = () => {
    try {
      closeSync(openSync('/dev/null', 'r'))
    } catch (error) {
      if (!isExhausted(error) || performance.now() < nextLine) return
      nextLine = performance.now() + REPEAT_AFTER_MS
      log('error', 'too-many-open-files', { limit })
    }
  }
  setInterval(checkLimit, CHECK_EVERY_MS).unref()

  async function countNow(): Promise<OpenFiles> {
    try {
      const { open, sockets } = await count()
      return { open, limit, connections: Math.max(0, sockets - own) }
    } catch (error) {
      if (isExhausted(error)) return { open: limit, limit, connections: null }
      throw error
    }
  }

  // Shared: each count takes a few hundred bytes per connection, a gigabyte for 4000 simultaneous callers.
  let currentCount: Promise<OpenFiles> | undefined
  return () => {
    currentCount ??= countNow().finally(() => {
      currentCount = undefined
    })
    return currentCount
  }
}
