// How many requests each token may send, and how its client is told
// (https://datatracker.ietf.org/doc/draft-ietf-httpapi-ratelimit-headers/).

import { PlantError } from '../errors'
import type { Token } from '../token'
import { createBuckets } from './buckets'

/** The `RateLimit-Policy` of a limit per second. */
export const policyOf = (perSecond: number): string => `"default";q=${perSecond};w=1`

/** The `RateLimit` of a token with this many requests left; after a second it has all of them again. */
export const limitOf = (left: number): string => `"default";r=${left};t=1`

export type RateLimit = ReturnType<typeof createRateLimit>

/** Limits the requests of each token to `perSecond`, and to as many at once. */
export function createRateLimit(perSecond: number, now: () => number) {
  const buckets = createBuckets(perSecond, now)
  const policy = policyOf(perSecond)
  const left = new WeakMap<Request, number>()

  return {
    /** Counts a request. Throws 42901 if its token has none left. */
    spend(request: Request, token: Token): void {
      const rest = buckets.take(token.hash)
      left.set(request, Math.max(0, rest))
      if (rest < 0) throw new PlantError(42901)
    },
    /** Adds to the answer of a counted request how many are left. */
    announce(request: Request, response: Response): void {
      const rest = left.get(request)
      if (rest === undefined) return
      response.headers.set('ratelimit-policy', policy)
      response.headers.set('ratelimit', limitOf(rest))
    },
  }
}
