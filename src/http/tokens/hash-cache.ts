// The hashes of tokens in use: hashing costs more than a look-up.

import { hashToken } from '../../token/token'

const MAX_HASHES = 1000

/** Remembers the hashes of this many tokens; beyond that, the oldest is dropped. */
export function createHashCache(maxHashes = MAX_HASHES, hash: typeof hashToken = hashToken) {
  const hashes = new Map<string, string>()

  return {
    /** The hash of a token. `check` may refuse a text that cannot be one. */
    hashOf: (token: string, check: (token: string) => string): string =>
      hashes.get(token) ?? hash(check(token)),
    /** Remembers a hash. Only of a token that exists: others would take its place. */
    keep(token: string, tokenHash: string): void {
      hashes.set(token, tokenHash)
      if (hashes.size > maxHashes) hashes.delete(hashes.keys().next().value ?? '')
    },
  }
}
