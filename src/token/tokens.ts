// The contract of tokens in a store.

import type { Token } from './token'

/** The tokens of a store. */
export interface Tokens {
  /** The token with this hash (see `hashToken`), valid or not; null if there is none. */
  findToken(hash: string): Promise<Token | null>
  /**
   * Adds a token. Resolves to false, and adds none, if a valid token has this name when the new one is created. An
   * expired token frees its name: it counts as revoked at the time of its expiry.
   */
  createToken(token: Token): Promise<boolean>
  /** Every token, oldest first. */
  listTokens(): Promise<Token[]>
  /** Revokes the token of this name at a time. Resolves to false if there is none, or it is already revoked. */
  revokeToken(name: string, now: number): Promise<boolean>
  /** Removes tokens revoked or expired by a time. Resolves to their number. */
  pruneTokens(time: number): Promise<number>
  /**
   * Records that a token was used, to the hour: one change per token and hour, however often it is called. It is not
   * awaited; if it fails, this hour's use is not recorded.
   */
  recordUse(token: Token, now: number): void
}
