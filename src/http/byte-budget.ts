// Counts the bytes held for clients: bodies being read, refused bodies, unread answers.

/** The bytes held for one body or one answer. */
export type Holding = {
  add(bytes: number): void
  /** Releases everything; later calls do nothing. */
  release(): void
}

type ByteBudget = {
  readonly limit: number
  /** Number of bytes held. */
  bytesHeld(): number
  /** Holds bytes. The caller checks first that they fit: without an `await` in between, the limit is exact. */
  hold(bytes?: number): Holding
}

export function createByteBudget(limit: number): ByteBudget {
  let total = 0
  return {
    limit,
    bytesHeld: () => total,
    hold(bytes = 0) {
      let own = bytes
      total += own
      return {
        add(more) {
          own += more
          total += more
        },
        release() {
          total -= own
          own = 0
        },
      }
    },
  }
}
