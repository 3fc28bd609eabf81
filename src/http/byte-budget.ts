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
  held(): number
  /** Holds bytes. The caller checks first that they fit: without an `await` in between, the limit is exact. */
  hold(bytes?: number): Holding
}

export function createByteBudget(limit: number): ByteBudget {
  let held = 0
  return {
    limit,
    held: () => held,
    hold(bytes = 0) {
      let own = bytes
      held += own
      return {
        add(more) {
          own += more
          held += more
        },
        release() {
          held -= own
          own = 0
        },
      }
    },
  }
}
