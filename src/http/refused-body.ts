// Reads refused bodies to their end, and keeps nothing of them.

const SHORTEST_LIMIT_BYTES = 8 * 1024 * 1024
const LONGEST_MS = 5000
const QUIET_MS = 1000
// Bun holds up to a megabyte of each body meanwhile. Beyond so much together, refusals are answered at once: 256 clients
// that send 900 KB each take 50 to 90 MB (`bun test/faults/run.ts --only memory-refused`).
const HELD_BYTES = 1024 * 1024
const ALL_HELD_BYTES = 32 * HELD_BYTES

/**
 * Makes the function that reads on what is left of a refused body: up to 8 MiB or `limit`, for up to 5 s, and not
 * beyond 1 s without a byte.
 *
 * Bun closes the connection of a client that says `Connection: close`, as nginx does, behind the answer. A client that
 * still sends would see a reset, and never the answer. Bun gives no body of a GET or a HEAD: those are not read.
 */
export function createDiscarder(limit: number) {
  const longest = Math.max(SHORTEST_LIMIT_BYTES, limit)
  let held = 0

  return async function discardRest({ body, headers }: Request): Promise<void> {
    if (!body || body.locked) return
    const length = Number(headers.get('content-length') ?? HELD_BYTES)
    const own = Math.min(length, HELD_BYTES)
    if (length > longest || held + own > ALL_HELD_BYTES) return
    held += own
    await discard(body, longest).finally(() => {
      held -= own
    })
  }
}

async function discard(body: ReadableStream<Uint8Array>, longest: number): Promise<void> {
  const reader = body.getReader()
  const end = performance.now() + LONGEST_MS
  const quiet = setTimeout(() => reader.cancel(), QUIET_MS)
  try {
    for (let left = longest; left > 0 && performance.now() < end; ) {
      const { done, value } = await reader.read()
      if (done) return
      left -= value.byteLength
      quiet.refresh()
    }
  } catch {
    // The client is gone: nobody waits for the answer.
  } finally {
    clearTimeout(quiet)
  }
}
