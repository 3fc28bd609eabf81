// The thread in which the page reads a workbook, so that the page stays usable and reading can be cancelled.

import type { Workbook } from '../../../formats/spreadsheet.ts'
import { readInThread } from '../../../formats/workbook-thread.ts'

type Policy = { createScriptURL(address: string): string }
declare const trustedTypes:
  | { createPolicy(name: string, rules: Policy): { createScriptURL(address: string): unknown } }
  | undefined

const address = new URL('./workbook-worker.js', import.meta.url).href

/**
 * The address as the page's content policy wants it: trusted types refuse a text, and allow this one policy, which
 * knows one address. A browser without trusted types takes the text.
 */
const createTrusted = (): unknown =>
  typeof trustedTypes === 'undefined'
    ? address
    : trustedTypes.createPolicy('workbook', { createScriptURL: () => address }).createScriptURL('')

// A policy can be made once.
let trusted: unknown = null

/** Reads a sheet of a workbook, until `signal` is aborted. Throws an `OpenError` if it cannot be read. */
export function readWorkbookInThread(
  bytes: Uint8Array,
  sheet: string | null,
  signal: AbortSignal,
): Promise<Workbook> {
  trusted ??= createTrusted()
  const thread = new Worker(trusted as string, { type: 'module' })
  return readInThread(thread, { bytes, sheet }, signal)
}
