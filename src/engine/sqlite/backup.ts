// Copies a database while others write to it, and checks the copy. In a thread: each is one long call of SQLite, and
// this thread must still receive signals.

import { OpenError } from '../../errors'
import type { Findings } from '../../store'
import { fileSize } from './files'

const POLL_MS = 100

export type BackupReply =
  | { readonly findings: Findings }
  | { readonly message: string; readonly code: string; readonly isStorage: boolean }

/** Called with the bytes copied and the total; may throw to cancel. */
export type OnBytes = (bytes: number, total: number) => void

/**
 * Copies a database as of one moment to a new file in a private folder, and checks the copy, which is not synced.
 * Resolves to the findings. Throws an `OpenError` if it is damaged; with the code of the system if the disk is full.
 */
export async function copyDatabase(
  source: string,
  target: string,
  onBytes: OnBytes,
): Promise<Findings> {
  const { promise, resolve, reject } = Promise.withResolvers<BackupReply>()
  const file = new URL('./backup-thread.ts', import.meta.url).href
  const thread = new Worker(file, { smol: true, argv: [source, target] })
  thread.onmessage = ({ data }: MessageEvent<BackupReply>) => resolve(data)
  thread.onerror = ({ message }) => reject(new Error(`the copying thread died: ${message}`))
  const timer = setInterval(() => {
    try {
      const total = fileSize(source)
      onBytes(Math.min(fileSize(target), total), total)
    } catch (error) {
      reject(error)
    }
  }, POLL_MS)
  try {
    const reply = await promise
    if ('message' in reply) {
      const { message, code, isStorage } = reply
      throw Object.assign(new OpenError(message, isStorage), { code })
    }
    const [problem] = reply.findings.problems
    if (problem !== undefined) throw new OpenError(`${source} is damaged: ${problem}`, true)
    return reply.findings
  } finally {
    clearInterval(timer)
    thread.terminate()
  }
}
