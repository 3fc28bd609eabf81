// Processes many plants, a few at a time.

// Browsers open six connections to a host: more requests would wait in line.
const CONCURRENCY = 6

/** Calls a function for each of many, a few at a time; yields the outcomes of each few, in order. */
export async function* inBatches<T, R>(
  all: readonly T[],
  act: (one: T) => Promise<R>,
): AsyncGenerator<readonly R[], void, void> {
  for (let at = 0; at < all.length; at += CONCURRENCY) {
    yield await Promise.all(all.slice(at, at + CONCURRENCY).map(act))
  }
}
