// Detects encodings in a thread, where WebAssembly is allowed: the page's content policy forbids it.

import type { Detection } from '../../../formats/encoding/detect.ts'
import { startThread } from './thread.ts'

/** Detects an encoding; if the thread cannot be loaded, it stays unknown. */
export function detectInThread(lines: readonly Uint8Array[]): Promise<Detection | null> {
  const thread = startThread<Detection | null>()
  const { promise, resolve } = Promise.withResolvers<Detection | null>()
  thread.onmessage = ({ data }) => resolve(data)
  thread.onerror = () => resolve({ encoding: null, readings: [] })
  thread.postMessage({ lines })
  return promise.finally(() => thread.terminate())
}
