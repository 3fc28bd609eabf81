// Reads what the strip shows from `/metrics`, in the Prometheus text format.

const DURATION = 'plantstore_http_request_duration_seconds_bucket'
const REQUESTS = 'plantstore_http_requests_total'
const CREATES = ['/plants', '/plants/batch']

/** The number of requests that took up to `seconds`; Infinity for all requests. */
type Bucket = { readonly seconds: number; readonly count: number }

export type Sample = {
  /** Milliseconds on a monotonic clock. */
  readonly at: number
  readonly created: number
  /** The number of stored plants; undefined if the service does not count them. */
  readonly plants: number | undefined
  readonly queued: number | undefined
  /**
   * Time of the oldest entry of the change log, in milliseconds since 1970; 0: it is empty, undefined: there is none.
   */
  readonly changesSince: number | undefined
  /** undefined: with a database server. */
  readonly freeBytes: number | undefined
  /** Milliseconds since 1970. */
  readonly startedAt: number
  /** Requests that the service could not carry out, health checks apart. */
  readonly failed: number
  /** For requests that create plants, in ascending order of seconds. */
  readonly buckets: readonly Bucket[]
  readonly version: string
}

const toSeconds = (le: string): number => (le === '+Inf' ? Number.POSITIVE_INFINITY : Number(le))

const labelOf = (labels: string, name: string): string => {
  const [, rest = ''] = labels.split(`${name}="`)
  return rest.split('"')[0] ?? ''
}

/** Reads a sample. */
export function parseMetrics(text: string, at: number): Sample {
  let failed = 0
  let version = ''
  const values = new Map<string, number>()
  const counts = new Map<number, number>()
  for (const line of text.split('\n')) {
    const space = line.lastIndexOf(' ')
    const [name = '', labels = ''] = line.slice(0, space).split(/[{}]/)
    const value = Number(line.slice(space + 1))
    values.set(name, value)
    if (name === 'plantstore_build_info') version = labelOf(labels, 'version')
    const route = labelOf(labels, 'route')
    if (name === REQUESTS && route !== '/health' && labels.includes('status="5')) failed += value
    if (name !== DURATION || !labels.includes('method="POST"') || !CREATES.includes(route)) continue
    const seconds = toSeconds(labelOf(labels, 'le'))
    counts.set(seconds, (counts.get(seconds) ?? 0) + value)
  }
  const oldestChange = values.get('plantstore_changes_oldest_timestamp_seconds')
  const buckets = [...counts]
    .map(([seconds, count]) => ({ seconds, count }))
    .sort((a, b) => a.seconds - b.seconds)
  return {
    at,
    created: values.get('plantstore_plants_created_total') ?? 0,
    plants: values.get('plantstore_plants'),
    queued: values.get('plantstore_queue_changes'),
    changesSince: oldestChange === undefined ? undefined : Math.round(oldestChange * 1000),
    freeBytes: values.get('plantstore_disk_free_bytes'),
    startedAt: (values.get('process_start_time_seconds') ?? 0) * 1000,
    failed,
    buckets,
    version,
  }
}

/** Plants created per second between two samples; null if the daemon restarted in between. */
export function createRate(before: Sample, after: Sample): number | null {
  const seconds = (after.at - before.at) / 1000
  const created = after.created - before.created
  return seconds > 0 && created >= 0 ? created / seconds : null
}

/**
 * The p99 latency of creates between two samples, in seconds, interpolated as Prometheus does; null if there were none.
 */
export function createP99(before: Sample, after: Sample): number | null {
  const earlier = new Map(before.buckets.map(({ seconds, count }) => [seconds, count]))
  const counts = after.buckets.map(({ seconds, count }) => ({
    seconds,
    count: count - (earlier.get(seconds) ?? 0),
  }))
  const all = counts.at(-1)?.count ?? 0
  if (all <= 0) return null
  const wanted = all * 0.99
  let lower = { seconds: 0, count: 0 }
  for (const bucket of counts) {
    if (bucket.count < wanted) {
      lower = bucket
      continue
    }
    if (bucket.seconds === Number.POSITIVE_INFINITY) return lower.seconds
    const share = (wanted - lower.count) / (bucket.count - lower.count)
    return lower.seconds + (bucket.seconds - lower.seconds) * share
  }
  return null
}
