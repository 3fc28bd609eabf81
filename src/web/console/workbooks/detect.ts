// The encoding of a text, detected in a thread: WebAssembly, which the policy of the page forbids, may run there.

import type { Detection } from '../../../formats/encoding/encoding.ts'
import { startThread } from './thread.ts'

/** Detects an encoding; if the thread cannot be loaded, none is convincing. */
export function detectInThread(sample: Uint8Array): Promise<Detection> {
  const thread = startThread<Detection>()
  const { promise, resolve } = Promise.withResolvers<Detection>()
  thread.onmessage = ({ data }) => resolve(data)
  thread.onerror = () => resolve({ encoding: null, readings: [] })
  thread.postMessage({ sample })
  return promise.finally(() => thread.terminate())
}
