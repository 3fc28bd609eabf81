// The rate limit: requests per second for each token.

import { RequestError } from '../../errors'
import type { Token } from '../../token/token'

// Beyond this many tokens, the least recently used one is dropped: its bucket is full again.
const MAX_BUCKETS = 10_000

type Bucket = { level: number; updatedAt: number }

/**
 * Returns the function that counts a request of a token, and throws `too many requests` if it has none left. A token
 * bucket for each: `perSecond`, and a burst of the same number. `now` may jump.
 */
export function createRateLimit(perSecond: number, now: () => number, maxBuckets = MAX_BUCKETS) {
  // Least recently used first.
  const buckets = new Map<string, Bucket>()

  return function spend({ hash }: Pick<Token, 'hash'>): void {
    const time = now()
    const bucket = buckets.get(hash) ?? { level: perSecond, updatedAt: time }
    // A clock that is set back neither adds nor removes requests.
    const refill = (Math.max(0, time - bucket.updatedAt) * perSecond) / 1000
    bucket.level = Math.min(perSecond, bucket.level + refill)
    bucket.updatedAt = time
    buckets.delete(hash)
    buckets.set(hash, bucket)
    if (buckets.size > maxBuckets) buckets.delete(buckets.keys().next().value ?? '')
    if (bucket.level < 1) throw new RequestError('too many requests')
    bucket.level -= 1
  }
}
