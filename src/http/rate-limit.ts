// How many requests each token may send, and how its client is told
// (https://datatracker.ietf.org/doc/draft-ietf-httpapi-ratelimit-headers/).

import { PlantError } from '../errors'
import type { Token } from '../token'
import { createBuckets } from './buckets'

/** The `RateLimit-Policy` of a limit per second. */
export const policyOf = (perSecond: number): string => `"default";q=${perSecond};w=1`

/** The `RateLimit` of a token with this many requests left; after a second it has all of them again. */
export const limitOf = (left: number): string => `"default";r=${left};t=1`

/** Whether requests of a route count: monitoring must work even when a token has used up its limit. */
export const isLimited = (route: string): boolean => route !== '/metrics'

export type RateLimit = ReturnType<typeof createRateLimit>

/** Limits the requests of each token to `perSecond`, and to as many at once. */
export function createRateLimit(perSecond: number, now: () => number) {
  const buckets = createBuckets(perSecond, now)
  const policy = policyOf(perSecond)

  return {
    /** Counts a request. Throws 42901 if its token has none left. */
    spend({ hash }: Token, route: string): void {
      if (isLimited(route) && !buckets.take(hash)) throw new PlantError(42901)
    },
    /** Says in an answer how many requests its token has left. */
    announce({ hash }: Token, route: string, { headers }: Response): void {
      if (!isLimited(route)) return
      headers.set('ratelimit-policy', policy)
      headers.set('ratelimit', limitOf(buckets.left(hash)))
    },
  }
}
