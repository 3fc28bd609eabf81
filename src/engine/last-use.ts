// Notes when tokens are used, to the hour; knows no database.

import { hourOf, type Token } from '../token'

/**
 * Returns a function that has the use of a token written: once per token and hour, even where the write fails, so that a
 * load of requests never becomes a load of writes.
 */
export function createUseRecorder(write: (hash: string, hour: number) => Promise<void>) {
  let latest = 0
  // The tokens whose use in the latest hour was handed over.
  const seen = new Set<string>()

  return ({ hash, lastUsedAt }: Token, now: number): void => {
    const hour = hourOf(now)
    if (hour > latest) {
      latest = hour
      seen.clear()
    }
    if ((lastUsedAt !== null && lastUsedAt >= hour) || seen.has(hash)) return
    seen.add(hash)
    // Nobody waits for it, and a storage that fails says so by itself.
    write(hash, hour).catch(() => {})
  }
}
