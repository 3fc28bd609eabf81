// How many requests each token may send, and what its client is told of it
// (https://datatracker.ietf.org/doc/draft-ietf-httpapi-ratelimit-headers/).

import { PlantError } from '../errors'
import type { Token } from '../token'
import { createBuckets } from './buckets'

/** `RateLimit-Policy` of a limit a second. */
export const policyOf = (perSecond: number): string => `"default";q=${perSecond};w=1`

/** `RateLimit` where so many requests are left: within a second all of them are there again. */
export const limitOf = (left: number): string => `"default";r=${left};t=1`

export type RateLimit = ReturnType<typeof createRateLimit>

/** Limits the requests of each token to so many a second, and to as many at once. */
export function createRateLimit(perSecond: number, now: () => number) {
  const buckets = createBuckets(perSecond, now)
  const policy = policyOf(perSecond)
  const left = new WeakMap<Request, number>()

  return {
    /** Counts a request. Throws 42901 where its token has none left. */
    spend(request: Request, token: Token): void {
      const rest = buckets.take(token.hash)
      left.set(request, Math.max(0, rest))
      if (rest < 0) throw new PlantError(42901)
    },
    /** Says in the answer of a request that was counted how many more may follow. */
    announce(request: Request, response: Response): void {
      const rest = left.get(request)
      if (rest === undefined) return
      response.headers.set('ratelimit-policy', policy)
      response.headers.set('ratelimit', limitOf(rest))
    },
  }
}
