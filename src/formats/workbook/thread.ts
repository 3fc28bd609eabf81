// Reads a workbook in a thread: SheetJS takes one long call, during which the other thread must still respond.

import { messageOf, OpenError } from '../../errors'
import type { Line } from '../row'
import { readWorkbook, type Workbook } from './workbook'

export type WorkbookRequest = { readonly bytes: Uint8Array; readonly sheet: string | null }
/** A message of the thread, in JSON: an array of rows; after the last of them the rest of the workbook, or an error. */
type WorkbookReply = Omit<Workbook, 'rows'> | readonly Line[] | { readonly message: string }

/** The worker of a command or of a page that runs `workbook-worker.ts`. */
type Thread = {
  onmessage: ((event: MessageEvent<string>) => void) | null
  onerror: ((event: ErrorEvent) => void) | null
  postMessage(request: WorkbookRequest): void
  terminate(): void
}

/** Watches the reading, which `fail` ends; returns the function that ends the watch. */
export type Watch = (fail: (error: Error) => void) => () => void

/** Reads a sheet of a workbook. Throws an `OpenError` if it cannot be read. Once `signal` is aborted, it has no rows. */
export async function readInThread(
  thread: Thread,
  request: WorkbookRequest,
  signal: AbortSignal,
  watch: Watch = () => () => {},
): Promise<Workbook> {
  const { promise, resolve, reject } = Promise.withResolvers<Workbook>()
  // Texts until they are read: their rows need several times the memory.
  const parts: string[] = []
  function* rows(): Generator<readonly Line[]> {
    for (let part = parts.shift(); part !== undefined; part = parts.shift()) yield JSON.parse(part)
  }
  const abort = () => resolve({ sheets: [], sheet: '', hiddenRows: 0, rows: [] })
  thread.onmessage = ({ data }) => {
    if (data.startsWith('[')) return void parts.push(data)
    const reply: Exclude<WorkbookReply, readonly unknown[]> = JSON.parse(data)
    if ('message' in reply) reject(new OpenError(reply.message))
    else resolve({ ...reply, rows: rows() })
  }
  thread.onerror = ({ message }) => reject(new Error(`the reading thread died: ${message}`))
  signal.addEventListener('abort', abort)
  if (signal.aborted) abort()
  const endWatch = watch(reject)
  try {
    thread.postMessage(request)
    return await promise
  } finally {
    endWatch()
    signal.removeEventListener('abort', abort)
    thread.terminate()
  }
}

/** The thread's side: reads a workbook, and posts it. */
export async function postWorkbook(
  { bytes, sheet }: WorkbookRequest,
  post: (text: string) => void,
): Promise<void> {
  const reply = (message: WorkbookReply) => post(JSON.stringify(message))
  try {
    const { rows, ...workbook } = await readWorkbook(bytes, sheet)
    for (const part of rows) reply(part)
    reply(workbook)
  } catch (error) {
    reply({ message: messageOf(error) })
  }
}
