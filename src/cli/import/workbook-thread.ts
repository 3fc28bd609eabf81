// Reads a workbook in a thread, so that the command responds to signals, and limits its memory.

import { OpenError } from '../../errors'
import { readInThread, type Watch } from '../../formats/workbook/thread'
import { TOO_LARGE, type Workbook } from '../../formats/workbook/workbook'

const MAX_MEMORY_BYTES = 1_500_000_000
const MEMORY_EVERY_MS = 100

const watchMemory: Watch = (fail) => {
  const timer = setInterval(() => {
    if (process.memoryUsage.rss() < MAX_MEMORY_BYTES) return
    const limit = `${MAX_MEMORY_BYTES / 1_000_000_000} GB of memory`
    fail(new OpenError(`the workbook needs more than ${limit}; ${TOO_LARGE}`))
  }, MEMORY_EVERY_MS)
  return () => clearInterval(timer)
}

/** Reads a sheet of a workbook, until `signal` is aborted. Throws an `OpenError` if it cannot be read. */
export function readWorkbookInThread(
  bytes: Uint8Array,
  sheet: string | null,
  signal: AbortSignal,
): Promise<Workbook> {
  const url = new URL('./workbook-worker.ts', import.meta.url)
  const thread = new Worker(url.href, { smol: true })
  return readInThread(thread, { bytes, sheet }, signal, watchMemory)
}
