// Limits the bytes held for clients: bodies being read, refused bodies, and unread responses. Bun keeps these in memory,
// beyond the buffers of the kernel.

import { RequestError } from '../request-errors'

/** Bytes up to which a body or a response is not counted: a connection has one (`memory-unread-short` of test:faults). */
export const SHORT_BYTES = 4 * 1024
const LONG_BYTES = 64 * 1024
const LIMIT_BYTES = 32 * 1024 * 1024
// The shares of the limit. Bodies and long responses leave room for pages of 1000 ordinary plants and the metrics, and
// refused bodies, which need no token, leave room for both.
const LONG_SHARE = 0.75
const REFUSED_SHARE = 0.5

const tooMany = () =>
  new RequestError('busy', 'busy: too many large bodies or unread responses; retry shortly')

/** The bytes held for one body or one response. */
export type Holding = Disposable & {
  /** Holds more of a body. Throws `busy` if there is no room. */
  add(bytes: number): void
}

export type ByteBudget = ReturnType<typeof createByteBudget>

/** `maxBodyBytes`: one body of this length always fits. */
export function createByteBudget(maxBodyBytes: number) {
  const longLimit = Math.max(LIMIT_BYTES * LONG_SHARE, maxBodyBytes)
  const limit = longLimit / LONG_SHARE
  let total = 0

  /** Holds bytes, whether or not there is room: the limit is exact if no `await` follows the check of it. */
  function hold(bytes: number): Holding {
    let own = bytes
    total += own
    return {
      add(more) {
        own += more
        total += more
        if (total > longLimit) throw tooMany()
      },
      [Symbol.dispose]() {
        total -= own
        own = 0
      },
    }
  }

  const hasRoom = (bytes: number): boolean =>
    bytes <= SHORT_BYTES || total < (bytes > LONG_BYTES ? longLimit : limit)

  return {
    /** Number of bytes held. */
    bytesHeld: () => total,
    hold,
    /** True if the rest of a refused body may be read. */
    hasRoomForRefused: (bytes: number): boolean => total + bytes <= limit * REFUSED_SHARE,
    /** Like `hold`; throws `busy` if there is no room. */
    reserve(bytes: number): Holding {
      if (!hasRoom(bytes)) throw tooMany()
      return hold(bytes)
    },
  }
}
