// The thread in which the page reads and writes workbooks, and detects encodings, so that it stays usable meanwhile.

import type { WorkbookRequest } from '../../../formats/workbook/thread.ts'
import type { PlantToWrite } from '../../../formats/write.ts'

type Policy = { createScriptURL(address: string): string }
declare const trustedTypes:
  | { createPolicy(name: string, rules: Policy): { createScriptURL(address: string): unknown } }
  | undefined

const WORKER_URL = new URL('./workbook-worker.js', import.meta.url).href
let trustedUrl: unknown = WORKER_URL

/**
 * Creates the only trusted-types policy that the page's content policy allows, which accepts one URL. Called before
 * anything else, so that no other script can create it. Browsers without trusted types use the URL as a text.
 */
export function trustThread(): void {
  if (typeof trustedTypes === 'undefined') return
  const policy = trustedTypes.createPolicy('workbook', { createScriptURL: () => WORKER_URL })
  trustedUrl = policy.createScriptURL('')
}

/** The lines of a text, whose encoding is to be detected. */
export type EncodingRequest = { readonly lines: readonly Uint8Array[] }

/** The next plants of a workbook to write; null for the end. */
export type WriteRequest = { readonly plants: readonly PlantToWrite[] | null }

/** The workbook, or the reason that there is none. */
export type WriteResult = { readonly bytes: Uint8Array<ArrayBuffer> } | { readonly message: string }

/** The thread as a page uses it; `Message`: a message that it sends. */
type Thread<Message> = {
  onmessage: ((event: MessageEvent<Message>) => void) | null
  onerror: ((event: ErrorEvent) => void) | null
  postMessage(message: WorkbookRequest | WriteRequest | EncodingRequest): void
  terminate(): void
}

export const startThread = <Message>(): Thread<Message> =>
  new Worker(trustedUrl as string, { type: 'module' })
