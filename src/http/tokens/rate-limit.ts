// The rate limit: requests per second for each token.

import { RequestError } from '../../errors'
import type { Token } from '../../token/token'

// Beyond this many keys, the least recently used one is dropped: its bucket is full again.
const MAX_KEYS = 10_000

type Bucket = { level: number; updatedAt: number }

/** Token buckets, one per key: a rate per second, and a burst of the same number. `now` may jump. */
export function createBuckets(perSecond: number, now: () => number, maxKeys = MAX_KEYS) {
  // Least recently used first.
  const buckets = new Map<string, Bucket>()

  return {
    /** Takes one request from a key's bucket; false if it is empty. */
    take(key: string): boolean {
      const time = now()
      const bucket = buckets.get(key) ?? { level: perSecond, updatedAt: time }
      // A clock that is set back neither adds nor removes requests.
      const refill = (Math.max(0, time - bucket.updatedAt) * perSecond) / 1000
      bucket.level = Math.min(perSecond, bucket.level + refill)
      bucket.updatedAt = time
      buckets.delete(key)
      buckets.set(key, bucket)
      if (buckets.size > maxKeys) buckets.delete(buckets.keys().next().value ?? '')
      if (bucket.level < 1) return false
      bucket.level -= 1
      return true
    },
  }
}

// Monitoring works even when a token has used up its limit.
const isLimited = (route: string): boolean => route !== '/metrics'

export type RateLimit = {
  /** Counts a request. Throws `too many requests` if its token has none left. */
  spend(token: Token, route: string): void
}

/** Limits the requests of each token to `perSecond`, with bursts of the same number. */
export function createRateLimit(perSecond: number, now: () => number): RateLimit {
  const buckets = createBuckets(perSecond, now)
  return {
    spend({ hash }, route) {
      if (isLimited(route) && !buckets.take(hash)) throw new RequestError('too many requests')
    },
  }
}
