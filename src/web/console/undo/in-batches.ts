// Browsers open six connections to a host: more requests would wait in line.
const CONCURRENCY = 6

/** Calls a function for each item, a few at a time; yields the outcomes of each batch, in order. */
export async function* inBatches<T, R>(
  all: readonly T[],
  handle: (one: T) => Promise<R>,
): AsyncGenerator<readonly R[], void, void> {
  for (let at = 0; at < all.length; at += CONCURRENCY) {
    yield await Promise.all(all.slice(at, at + CONCURRENCY).map(handle))
  }
}
