// Bytes that are held for clients at the same time: bodies that are read, refused bodies, answers that wait for a client.

/** What one body or one answer holds. */
export type Holding = {
  add(bytes: number): void
  /** Gives all of it back; a second call does nothing. */
  release(): void
}

export type ByteBudget = {
  readonly limit: number
  /** Bytes that are held now. */
  held(): number
  /** Begins to hold bytes. The caller looks first whether they fit: without an `await` in between, the limit binds. */
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
