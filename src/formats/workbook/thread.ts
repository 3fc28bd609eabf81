// Reads a workbook in a thread: SheetJS takes one long call, during which the other thread must still respond.

import { OpenError } from '../../errors'
import type { Line } from '../row'
import type { Workbook } from './workbook'

export type WorkbookRequest = { readonly bytes: Uint8Array; readonly sheet: string | null }

/** A message of the thread: first the sheets, then some rows at a time, then the end or an error. */
export type WorkbookPart =
  | Omit<Workbook, 'rows'>
  | { readonly rows: readonly Line[] }
  | { readonly end: true }
  | { readonly message: string; readonly isFileError: boolean }

/** The worker of a command or of a page that runs `workbook-worker.ts`. */
type Thread = {
  onmessage: ((event: MessageEvent<string>) => void) | null
  onerror: ((event: ErrorEvent) => void) | null
  postMessage(request: WorkbookRequest): void
  terminate(): void
}

/** Watches the reading, which `fail` ends; returns the function that ends the watch. */
export type Watch = (fail: (error: Error) => void) => () => void

/** The messages of a thread, until it ends, or `signal` is aborted. */
async function* partsOf(
  thread: Thread,
  request: WorkbookRequest,
  signal: AbortSignal,
  watch: Watch,
): AsyncGenerator<WorkbookPart> {
  const parts: WorkbookPart[] = []
  let failure: Error | null = null
  let wake = () => {}
  const fail = (error: Error) => {
    failure = error
    wake()
  }
  const abort = () => {
    thread.terminate()
    wake()
  }
  signal.addEventListener('abort', abort)
  thread.onmessage = ({ data }) => {
    parts.push(JSON.parse(data))
    wake()
  }
  thread.onerror = ({ message }) => fail(new Error(`the reading thread died: ${message}`))
  const endWatch = watch(fail)
  try {
    thread.postMessage(request)
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
    endWatch()
    signal.removeEventListener('abort', abort)
    thread.terminate()
  }
}

/** Reads a sheet of a workbook, until `signal` is aborted. Throws an `OpenError` if it cannot be read. */
export async function readInThread(
  thread: Thread,
  request: WorkbookRequest,
  signal: AbortSignal,
  watch: Watch = () => () => {},
): Promise<Workbook> {
  const parts = partsOf(thread, request, signal, watch)
  const next = async () => {
    const { value: part } = await parts.next()
    if (!part || !('message' in part)) return part
    throw part.isFileError ? new OpenError(part.message) : new Error(part.message)
  }
  const first = await next()
  if (!first || !('sheets' in first)) return { sheets: [], sheet: '', hiddenRows: 0, rows: [] }
  return {
    ...first,
    rows: (async function* () {
      for (let part = await next(); part; part = await next()) if ('rows' in part) yield part.rows
    })(),
  }
}
