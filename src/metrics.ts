import type { StoreStats } from './store'

// Upper bounds of the buckets. Seconds, as Prometheus wants them; a create takes about one sync of the disk.
const SECONDS = [0.0005, 0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 10]
const BATCHES = [1, 2, 4, 8, 16, 32, 64, 128, 256, 512, 1024, 4096]

function createHistogram(bounds: readonly number[]) {
  const counts = new Float64Array(bounds.length + 1)
  let sum = 0
  return {
    observe(value: number): void {
      let bucket = 0
      while (bucket < bounds.length && value > (bounds[bucket] ?? 0)) bucket++
      counts[bucket] = (counts[bucket] ?? 0) + 1
      sum += value
    },
    /** The lines of the text format; `labels` like `route="/plants"`, or empty. */
    render(name: string, labels: string): string[] {
      let total = 0
      const of = (le: string) => `{${labels ? `${labels},` : ''}le="${le}"}`
      const buckets = [...counts].map((count, index) => {
        total += count
        return `${name}_bucket${of(String(bounds[index] ?? '+Inf'))} ${total}`
      })
      const own = labels ? `{${labels}}` : ''
      return [...buckets, `${name}_sum${own} ${sum}`, `${name}_count${own} ${total}`]
    },
  }
}

type Route = {
  readonly statuses: Map<number, number>
  readonly latency: ReturnType<typeof createHistogram>
}

export type Metrics = ReturnType<typeof createMetrics>

/** What the daemon counts of itself, for Prometheus. */
export function createMetrics() {
  const routes = new Map<string, Map<string, Route>>()
  const batches = createHistogram(BATCHES)
  const commits = createHistogram(SECONDS)
  let created = 0

  return {
    /** An answer: its method, its route such as `/plants/:id`, its status, and the milliseconds that it took. */
    answered(method: string, route: string, status: number, milliseconds: number): void {
      let methods = routes.get(route)
      if (!methods) {
        methods = new Map()
        routes.set(route, methods)
      }
      let counts = methods.get(method)
      if (!counts) {
        counts = { statuses: new Map(), latency: createHistogram(SECONDS) }
        methods.set(method, counts)
      }
      counts.statuses.set(status, (counts.statuses.get(status) ?? 0) + 1)
      counts.latency.observe(milliseconds / 1000)
    },
    committed(changes: number, milliseconds: number): void {
      batches.observe(changes)
      commits.observe(milliseconds / 1000)
    },
    created(plants: number): void {
      created += plants
    },
    /** All of it in the Prometheus text format, version 0.0.4. */
    render(stats: StoreStats): string {
      const lines: string[] = []
      const family = (name: string, type: string, help: string, samples: string[]) =>
        lines.push(`# HELP ${name} ${help}`, `# TYPE ${name} ${type}`, ...samples)
      const single = (name: string, type: string, help: string, value: number) =>
        family(name, type, help, [`${name} ${value}`])
      const all = [...routes].flatMap(([route, methods]) =>
        [...methods].map(([method, it]) => ({
          ...it,
          labels: `method="${method}",route="${route}"`,
        })),
      )

      family(
        'plantstore_http_requests_total',
        'counter',
        'Answered requests.',
        all.flatMap(({ labels, statuses }) =>
          [...statuses].map(
            ([status, count]) =>
              `plantstore_http_requests_total{${labels},status="${status}"} ${count}`,
          ),
        ),
      )
      const latency = 'plantstore_http_request_duration_seconds'
      family(
        latency,
        'histogram',
        'Time from the head of a request to its answer.',
        all.flatMap((it) => it.latency.render(latency, it.labels)),
      )
      const size = 'plantstore_commit_changes'
      family(size, 'histogram', 'Changes that shared a commit.', batches.render(size, ''))
      const duration = 'plantstore_commit_duration_seconds'
      family(
        duration,
        'histogram',
        'Time of a commit, sync included.',
        commits.render(duration, ''),
      )
      single('plantstore_plants_created_total', 'counter', 'Plants created over HTTP.', created)
      single('plantstore_queue_changes', 'gauge', 'Changes that wait for a commit.', stats.queued)
      single('plantstore_database_bytes', 'gauge', 'Size of the database.', stats.databaseBytes)
      single('plantstore_wal_bytes', 'gauge', 'Size of the write-ahead log.', stats.walBytes)
      single(
        'process_resident_memory_bytes',
        'gauge',
        'Resident memory.',
        process.memoryUsage.rss(),
      )
      return `${lines.join('\n')}\n`
    },
  }
}
