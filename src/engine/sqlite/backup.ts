// Copies a database while others write to it, and checks the copy. In a thread: each is one long call of SQLite, and
// this thread must still receive signals.

import { OpenError, writeError } from '../../errors'
import type { Findings } from '../../store'
import { fileSize } from './files'

const POLL_MS = 100

export type BackupRequest = { readonly source: string; readonly target: string }

export type BackupReply =
  | { readonly isCopied: true }
  | { readonly findings: Findings }
  | { readonly message: string; readonly code: string; readonly isStorage: boolean }

/** Called with the bytes done and the total; may throw to cancel. */
export type OnBytes = (bytes: number, total: number) => void

/** The error of the thread: with its code if the disk is full or fails, as the caller knows the name of the copy. */
function failureOf({ message, code, isStorage }: Extract<BackupReply, { message: string }>): Error {
  const error = Object.assign(new Error(message), { code })
  return writeError(error, '') === error ? new OpenError(message, isStorage) : error
}

/**
 * Copies a database as of one moment to a new file in a private folder, and checks the copy, which is not synced.
 * Resolves to the findings. Throws an `OpenError` if it is damaged.
 */
export async function copyDatabase(
  source: string,
  target: string,
  onBytes: OnBytes = () => {},
): Promise<Findings> {
  const { promise, resolve, reject } = Promise.withResolvers<BackupReply>()
  let total = 0
  let isCopied = false
  const thread = new Worker(new URL('./backup-thread.ts', import.meta.url).href, { smol: true })
  thread.onmessage = ({ data }: MessageEvent<string>) => {
    const reply: BackupReply = JSON.parse(data)
    if ('isCopied' in reply) isCopied = true
    else resolve(reply)
  }
  thread.onerror = ({ message }) => reject(new Error(`the copying thread died: ${message}`))
  const timer = setInterval(() => {
    try {
      total ||= fileSize(source) + fileSize(`${source}-wal`)
      onBytes(isCopied ? total : Math.min(fileSize(target), total), total)
    } catch (error) {
      reject(error)
    }
  }, POLL_MS)
  try {
    thread.postMessage(JSON.stringify({ source, target } satisfies BackupRequest))
    const reply = await promise
    if ('message' in reply) throw failureOf(reply)
    if ('findings' in reply && reply.findings.problems.length === 0) return reply.findings
    const [problem] = 'findings' in reply ? reply.findings.problems : []
    throw new OpenError(`${source} is damaged: ${problem}`, true)
  } finally {
    clearInterval(timer)
    thread.terminate()
  }
}
