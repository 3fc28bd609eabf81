// Reads a workbook in a separate thread: SheetJS reads it in one long call, and this thread must still receive signals.

import { OpenError } from '../../errors'
import type { Line } from '../../formats/row'
import { TOO_LARGE, type Workbook } from '../../formats/spreadsheet'

export type ToRead = { readonly bytes: Uint8Array; readonly sheet: string | null }

/** A message of the thread: first the sheets, then rows, some at a time. */
export type WorkbookPart =
  | Pick<Workbook, 'sheet' | 'sheets'>
  | { readonly rows: readonly Line[] }
  | { readonly end: true }
  | { readonly message: string; readonly isOfFile: boolean }

const MAX_MEMORY_BYTES = 1_500_000_000
const MEMORY_EVERY_MS = 100

/** The messages of the thread, until it ends, `signal` is aborted, or the process uses too much memory. */
async function* partsOf(toRead: ToRead, signal: AbortSignal): AsyncGenerator<WorkbookPart> {
  const thread = new Worker(new URL('./workbook-worker.ts', import.meta.url).href, { smol: true })
  const parts: WorkbookPart[] = []
  let failure: Error | null = null
  let wake = () => {}
  const fail = (error: Error) => {
    failure = error
    wake()
  }
  const abort = () => wake()
  signal.addEventListener('abort', abort)
  thread.onmessage = ({ data }: MessageEvent<string>) => {
    parts.push(JSON.parse(data))
    wake()
  }
  thread.onerror = ({ message }) => fail(new Error(`the reading thread died: ${message}`))
  const timer = setInterval(() => {
    if (process.memoryUsage.rss() < MAX_MEMORY_BYTES) return
    const limit = `${MAX_MEMORY_BYTES / 1_000_000_000} GB of memory`
    fail(new OpenError(`the workbook needs more than ${limit}; ${TOO_LARGE}`))
  }, MEMORY_EVERY_MS)
  try {
    thread.postMessage(toRead)
    while (!signal.aborted) {
      if (failure) throw failure
      const part = parts.shift()
      if (part && 'end' in part) return
      if (part) yield part
      else
        await new Promise<void>((resolve) => {
          wake = resolve
        })
    }
  } finally {
    clearInterval(timer)
    signal.removeEventListener('abort', abort)
    thread.terminate()
  }
}

/** Reads a sheet of a workbook, until `signal` is aborted. Throws an `OpenError` if it cannot be read. */
export async function readInThread(
  bytes: Uint8Array,
  sheet: string | null,
  signal: AbortSignal,
): Promise<Workbook> {
  const parts = partsOf({ bytes, sheet }, signal)
  const next = async () => {
    const { value: part } = await parts.next()
    if (!part || !('message' in part)) return part
    throw part.isOfFile ? new OpenError(part.message) : new Error(part.message)
  }
  const first = await next()
  if (!first || !('sheets' in first)) return { sheets: [], sheet: '', rows: [] }
  return {
    ...first,
    rows: (async function* () {
      for (let part = await next(); part; part = await next()) if ('rows' in part) yield part.rows
    })(),
  }
}
