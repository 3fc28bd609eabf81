// How many requests each token may send, and how its client is told
// (https://datatracker.ietf.org/doc/draft-ietf-httpapi-ratelimit-headers/).

import { ApiError } from '../errors'
import type { Token } from '../token'

// Beyond this many keys, the least recently used one is forgotten: its bucket is full again.
const MOST_KEYS = 10_000

type Bucket = { level: number; at: number }

/** Token buckets: for each of many keys, a number of requests per second, and as many at once. `now` may jump. */
export function createBuckets(perSecond: number, now: () => number, most = MOST_KEYS) {
  // Least recently used first.
  const buckets = new Map<string, Bucket>()

  return {
    /** Takes one request from a key's bucket; false if it is empty. */
    take(key: string): boolean {
      const at = now()
      const bucket = buckets.get(key) ?? { level: perSecond, at }
      // A clock that is set back neither adds nor takes anything.
      const gained = (Math.max(0, at - bucket.at) * perSecond) / 1000
      bucket.level = Math.min(perSecond, bucket.level + gained)
      bucket.at = at
      buckets.delete(key)
      buckets.set(key, bucket)
      if (buckets.size > most) buckets.delete(buckets.keys().next().value ?? '')
      if (bucket.level < 1) return false
      bucket.level -= 1
      return true
    },
    /** How many requests a key's bucket had left when one was last taken. */
    left: (key: string): number => Math.floor(buckets.get(key)?.level ?? perSecond),
  }
}

/** The `RateLimit-Policy` of a limit per second. */
export const policyOf = (perSecond: number): string => `"default";q=${perSecond};w=1`

/** The `RateLimit` of a token with this many requests left; after a second it has all of them again. */
export const limitOf = (left: number): string => `"default";r=${left};t=1`

/** Whether requests of a route count: monitoring must work even when a token has used up its limit. */
export const isLimited = (route: string): boolean => route !== '/metrics'

export type RateLimit = {
  /** Counts a request. Throws 42901 if its token has none left. */
  spend(token: Token, route: string): void
  /** Says in an answer how many requests its token has left. */
  announce(token: Token, route: string, response: Response): void
}

/** Limits the requests of each token to `perSecond`, and to as many at once. */
export function createRateLimit(perSecond: number, now: () => number): RateLimit {
  const buckets = createBuckets(perSecond, now)
  const policy = policyOf(perSecond)

  return {
    spend({ hash }, route) {
      if (isLimited(route) && !buckets.take(hash)) throw new ApiError(42901)
    },
    announce({ hash }, route, { headers }) {
      if (!isLimited(route)) return
      headers.set('ratelimit-policy', policy)
      headers.set('ratelimit', limitOf(buckets.left(hash)))
    },
  }
}
