// A histogram in the Prometheus text format (https://prometheus.io/docs/concepts/metric_types/#histogram).

/** What follows a metric's name, such as its labels, and a value. */
export type Sample = readonly [suffix: string, value: number]

/** Counts values in buckets by their upper bounds, in ascending order. */
export function createHistogram(bounds: readonly number[]) {
  const counts = new Float64Array(bounds.length + 1)
  let sum = 0
  return {
    observe(value: number): void {
      let bucket = 0
      while (bucket < bounds.length && value > (bounds[bucket] ?? 0)) bucket++
      counts[bucket] = (counts[bucket] ?? 0) + 1
      sum += value
    },
    /** The samples; `labels` like `route="/plants"`, or empty. */
    samples(labels = ''): Sample[] {
      let total = 0
      const of = (le: string) => `{${labels ? `${labels},` : ''}le="${le}"}`
      const buckets = [...counts].map((count, index): Sample => {
        total += count
        return [`_bucket${of(String(bounds[index] ?? '+Inf'))}`, total]
      })
      const own = labels ? `{${labels}}` : ''
      return [...buckets, [`_sum${own}`, sum], [`_count${own}`, total]]
    },
  }
}
