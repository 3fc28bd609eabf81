// Records the hour of a token's last use. Knows no database.

import { hourOf, type Token } from '../../token/token'

/**
 * Returns a function that records the use of a token: once per token and hour, even if the write fails, so that many
 * requests never cause many writes.
 */
export function createUseRecorder(write: (hash: string, hour: number) => Promise<void>) {
  let latest = 0
  // Tokens whose use in the latest hour was already passed to `write`.
  const recordedHashes = new Set<string>()

  return ({ hash, lastUsedAt }: Token, now: number): void => {
    const hour = hourOf(now)
    if (hour > latest) {
      latest = hour
      recordedHashes.clear()
    }
    if ((lastUsedAt !== null && lastUsedAt >= hour) || recordedHashes.has(hash)) return
    recordedHashes.add(hash)
    // Not awaited: the storage reports its own failures.
    write(hash, hour).catch(() => {})
  }
}
