// The hashes of tokens in use: hashing costs more than a look-up.

import { hashToken } from '../../token/token'

const MAX_HASHES = 1000

/** Remembers the hashes of this many tokens; beyond that, the oldest is dropped. */
export function createHashCache(most = MAX_HASHES, hash: typeof hashToken = hashToken) {
  const hashes = new Map<string, string>()

  return {
    /** The hash of a token. `check` may refuse a text that cannot be one. */
    of: (sent: string, check: (sent: string) => string): string =>
      hashes.get(sent) ?? hash(check(sent)),
    /** Remembers a hash. Only of a token that exists: others would take its place. */
    keep(sent: string, known: string): void {
      hashes.set(sent, known)
      if (hashes.size > most) hashes.delete(hashes.keys().next().value ?? '')
    },
  }
}
