// Reads refused bodies to their end, and discards them.

import type { ByteBudget } from '../byte-budget'
import type { Exchange } from '../exchange'

const MIN_LIMIT_BYTES = 8 * 1024 * 1024
const MAX_MS = 5000
const QUIET_MS = 1000
// Meanwhile Bun buffers up to a megabyte of each body. Without room for it, refusals are answered at once: 256 clients
// that send 900 KB each, then 2,000, use 75 to 86 MB (`bun test/slow/faults/run.ts --only memory-refused`).
const BUFFERED_BYTES = 1024 * 1024
// Bun frees what it has buffered of a body with its stream, and hides the size from the collector: 24 clients that send
// 500 KB and disconnect, a thousand a second, would take up to 500 MB (`bun run slow
// ./test/slow/long/aborted-bodies.test.ts`). So the collector runs after this many bytes, at most ten times a second.
const COLLECTED_BYTES = 16 * 1024 * 1024
const MIN_COLLECT_MS = 100
// Bun hides the extension of a chunk, which has up to this many bytes.
const EXTENSION_BYTES = 16 * 1024

export type Sent = Pick<Exchange, 'request' | 'headers'>

/**
 * Returns a reader of the rest of a refused body: up to 8 MiB or `limit`, for at most 5 s, or until 1 s passes without
 * a byte. With `Connection: close`, which nginx sends, Bun closes the connection right after the response. A client that
 * is still sending would see a reset instead of the response. Bun exposes no body of a GET or a HEAD. After the response,
 * Bun reads the rest of an unread body without any limit.
 */
export function createDiscarder(limit: number, budget: ByteBudget) {
  const longest = Math.max(MIN_LIMIT_BYTES, limit)

  let garbageBytes = 0
  let collectedAt = 0

  function collectAfter(bytes: number): void {
    garbageBytes += bytes
    if (garbageBytes < COLLECTED_BYTES || performance.now() - collectedAt < MIN_COLLECT_MS) return
    Bun.gc(true)
    garbageBytes = 0
    collectedAt = performance.now()
  }

  const isChunked = ({ headers }: Sent): boolean => headers['transfer-encoding'] !== undefined
  /** True if Bun may read the rest of a request's body after the response: its end is known and near. */
  const isShort = (sent: Sent): boolean =>
    !isChunked(sent) && Number(sent.headers['content-length'] ?? 0) <= longest

  /** Reads the rest of a body. Resolves to false if the connection must be closed, because much more may follow. */
  async function discardRest(sent: Sent): Promise<boolean> {
    const { body } = sent.request
    if (!body) return isShort(sent)
    const length = Number(sent.headers['content-length'] ?? BUFFERED_BYTES)
    collectAfter(length)
    if (body.locked) return true
    const own = Math.min(length, BUFFERED_BYTES)
    if (length > longest || !budget.hasRoomForRefused(own)) return isShort(sent)
    using _ = budget.hold(own)
    return await discard(body, longest, isChunked(sent) ? EXTENSION_BYTES : 0)
  }

  return { isShort, discardRest }
}

/** Resolves to true if the body has ended. Each part counts as at least `minBytes`. */
async function discard(
  body: ReadableStream<Uint8Array>,
  longest: number,
  minBytes: number,
): Promise<boolean> {
  const reader = body.getReader()
  const end = performance.now() + MAX_MS
  let isQuiet = false
  const quiet = setTimeout(() => {
    isQuiet = true
    reader.cancel()
  }, QUIET_MS)
  let remaining = longest
  try {
    while (remaining > 0 && performance.now() < end) {
      const { done, value } = await reader.read()
      if (done) return !isQuiet
      remaining -= Math.max(value.byteLength, minBytes)
      quiet.refresh()
    }
    return false
  } catch {
    // The client has disconnected, and needs no response.
    return true
  } finally {
    clearTimeout(quiet)
  }
}
