// Checks a database in a separate thread: SQLite's check is one long call, and this thread must still receive signals.

import { OpenError } from '../../../errors'
import type { Findings } from '../../../store'

const POLL_MS = 100

/** `isOpen`: this process has the database open. */
export type CheckRequest = { readonly path: string; readonly isOpen: boolean }

export type CheckReply =
  | { readonly findings: Findings }
  | { readonly message: string; readonly isStorage: boolean }

async function checkInThread(request: CheckRequest, onWait = () => {}): Promise<Findings> {
  const { promise, resolve, reject } = Promise.withResolvers<CheckReply>()
  const thread = new Worker(new URL('./check-worker.ts', import.meta.url).href, { smol: true })
  thread.onmessage = ({ data }: MessageEvent<string>) => resolve(JSON.parse(data))
  thread.onerror = ({ message }) => reject(new Error(`the checking thread died: ${message}`))
  const timer = setInterval(() => {
    try {
      onWait()
    } catch (error) {
      reject(error)
    }
  }, POLL_MS)
  try {
    thread.postMessage(JSON.stringify(request))
    const reply = await promise
    if ('findings' in reply) return reply.findings
    throw new OpenError(reply.message, reply.isStorage)
  } finally {
    clearInterval(timer)
    thread.terminate()
  }
}

/**
 * Checks a copy. `onWait` is called repeatedly, and may throw to cancel. Throws an `OpenError` if the copy cannot be
 * read.
 */
export const checkCopy = (path: string, onWait: () => void): Promise<Findings> =>
  checkInThread({ path, isOpen: false }, onWait)

/** Reads every page of a database that this process has open. Resolves to true if it is whole. */
export const isWhole = (path: string): Promise<boolean> =>
  checkInThread({ path, isOpen: true }).then(
    ({ problems }) => problems.length === 0,
    () => false,
  )
