// Token buckets: so many requests a second, and as many at once, for each of many keys.

// Beyond so many keys, the one that was used least lately is forgotten: its bucket is full again.
const MOST_KEYS = 10_000

type Bucket = { level: number; at: number }

/** `now`: milliseconds; may jump. */
export function createBuckets(perSecond: number, now: () => number, most = MOST_KEYS) {
  // In the order of their use.
  const buckets = new Map<string, Bucket>()

  return {
    /** Takes one of what a key has left: returns the rest, or -1 where there was nothing left to take. */
    take(key: string): number {
      const at = now()
      const bucket = buckets.get(key) ?? { level: perSecond, at }
      // A clock that is set back gives nothing, and takes nothing.
      const gained = (Math.max(0, at - bucket.at) * perSecond) / 1000
      bucket.level = Math.min(perSecond, bucket.level + gained)
      bucket.at = at
      buckets.delete(key)
      buckets.set(key, bucket)
      if (buckets.size > most) buckets.delete(buckets.keys().next().value ?? '')
      if (bucket.level < 1) return -1
      bucket.level -= 1
      return Math.floor(bucket.level)
    },
    giveBack(key: string): void {
      const bucket = buckets.get(key)
      if (bucket) bucket.level = Math.min(perSecond, bucket.level + 1)
    },
  }
}
