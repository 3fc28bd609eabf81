// Reads refused bodies to their end, and discards them.

import { createByteBudget } from './byte-budget'

const SHORTEST_LIMIT_BYTES = 8 * 1024 * 1024
const MAX_MS = 5000
const QUIET_MS = 1000
// Bun buffers up to a megabyte of each body meanwhile. Beyond this total, refusals are answered at once: 256 clients that
// send 900 KB each take 37 to 47 MB (`bun test/slow/faults/run.ts --only memory-refused`).
const BUFFERED_BYTES = 1024 * 1024
const ALL_BUFFERED_BYTES = 16 * BUFFERED_BYTES

/**
 * Makes the function that reads the rest of a refused body: up to 8 MiB or `limit`, for at most 5 s, or until 1 s passes
 * without a byte.
 *
 * If a client sends `Connection: close`, as nginx does, Bun closes the connection right after the answer. A client that is
 * still sending would see a reset, and never the answer. Bun exposes no body of a GET or a HEAD: those are not read.
 */
export function createDiscarder(limit: number): (request: Request) => Promise<void> {
  const longest = Math.max(SHORTEST_LIMIT_BYTES, limit)
  const budget = createByteBudget(ALL_BUFFERED_BYTES)

  return async function discardRest({ body, headers }) {
    if (!body || body.locked) return
    const length = Number(headers.get('content-length') ?? BUFFERED_BYTES)
    const own = Math.min(length, BUFFERED_BYTES)
    if (length > longest || budget.held() + own > budget.limit) return
    const { release } = budget.hold(own)
    await discard(body, longest).finally(release)
  }
}

async function discard(body: ReadableStream<Uint8Array>, longest: number): Promise<void> {
  const reader = body.getReader()
  const end = performance.now() + MAX_MS
  const quiet = setTimeout(() => reader.cancel(), QUIET_MS)
  try {
    for (let left = longest; left > 0 && performance.now() < end; ) {
      const { done, value } = await reader.read()
      if (done) return
      left -= value.byteLength
      quiet.refresh()
    }
  } catch {
    // The client has gone: nobody waits for the answer.
  } finally {
    clearTimeout(quiet)
  }
}
