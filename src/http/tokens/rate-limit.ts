// The rate limit: requests per second for each token.

import { RequestError } from '../../request-errors'
import type { Token } from '../../token/token'

/**
 * Returns the function that counts a request of a token, and throws `too many requests` if it has none left. A token
 * bucket for each: `perSecond`, and a burst of the same number. `now` may jump.
 */
export function createRateLimit(perSecond: number, now: () => number) {
  const buckets = new Map<string, { level: number; updatedAt: number }>()

  return function spend({ hash }: Pick<Token, 'hash'>): void {
    const time = now()
    const bucket = buckets.getOrInsert(hash, { level: perSecond, updatedAt: time })
    // A clock that is set back neither adds nor removes requests.
    const refill = (Math.max(0, time - bucket.updatedAt) * perSecond) / 1000
    bucket.level = Math.min(perSecond, bucket.level + refill)
    bucket.updatedAt = time
    if (bucket.level < 1) throw new RequestError('too many requests')
    bucket.level -= 1
  }
}
