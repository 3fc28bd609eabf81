// Detects encodings in a thread, where WebAssembly is allowed: the page's content policy forbids it.

import type { Detection, EncodingSample } from '../../../formats/encoding/encoding.ts'
import { startThread } from './thread.ts'

/** Detects an encoding; if the thread cannot be loaded, it stays unknown. */
export function detectInThread({ sample, earlier }: EncodingSample): Promise<Detection> {
  const thread = startThread<Detection>()
  const { promise, resolve } = Promise.withResolvers<Detection>()
  thread.onmessage = ({ data }) => resolve(data)
  thread.onerror = () => resolve({ encoding: null, readings: [], isMixed: false })
  thread.postMessage({ sample, earlier })
  return promise.finally(() => thread.terminate())
}
