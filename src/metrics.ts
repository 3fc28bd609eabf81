// The metrics of the daemon, in the Prometheus text format
// (https://prometheus.io/docs/instrumenting/exposition_formats/).

import { readdirSync, readFileSync } from 'node:fs'
import { COMMIT } from './program'
import type { StoreStats } from './store'

// Upper bounds of the buckets, in seconds by Prometheus's convention; a create takes about one fsync.
const SECONDS = [0.0005, 0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 10]
// The route of requests that no other route takes; their methods are the clients' choice.
const UNROUTED = '/*'

/** The rest of a metric's line: the suffix of its name, such as labels, and a value. */
type Sample = readonly [suffix: string, value: number]

// https://prometheus.io/docs/concepts/metric_types/#histogram
type Histogram = {
  observe(value: number): void
  /** The samples; `labels` like `route="/plants"`, or empty. */
  samples(labels?: string): Sample[]
}

/** Counts times in buckets by their upper bounds. */
function createHistogram(): Histogram {
  const counts = new Float64Array(SECONDS.length + 1)
  let sum = 0
  return {
    observe(value) {
      let bucket = 0
      while (bucket < SECONDS.length && value > (SECONDS[bucket] ?? 0)) bucket++
      counts[bucket] = (counts[bucket] ?? 0) + 1
      sum += value
    },
    samples(labels = '') {
      let total = 0
      const prefix = labels && `${labels},`
      const labelsOf = (le: string) => `{${prefix}le="${le}"}`
      const buckets = [...counts].map((count, index): Sample => {
        total += count
        return [`_bucket${labelsOf(String(SECONDS[index] ?? '+Inf'))}`, total]
      })
      const own = labels ? `{${labels}}` : ''
      return [...buckets, [`_sum${own}`, sum], [`_count${own}`, total]]
    },
  }
}

/** The responses to one method of a route. */
type Responses = { readonly statuses: Map<number, number>; readonly latency: Histogram }

const createResponses = (): Responses => ({ statuses: new Map(), latency: createHistogram() })
const createMethods = () => new Map<string, Responses>()

/** Values read for each response; null if unknown, or if there is none. */
type LiveGauges = {
  /** The version of plantstore. */
  readonly version: string
  readonly unsentBytes: number
  /** Clients that follow the change log. */
  readonly followers: number
  readonly plants: number | null
  /** Times are in milliseconds since 1970; 0 if there is no backup yet. */
  readonly lastBackupAt: number | null
  readonly certificateExpiry: number | null
}

/** The responses by route and method. */
class RequestCounts {
  readonly #routes = new Map<string, Map<string, Responses>>()

  add(method: string, route: string, status: number, milliseconds: number): void {
    const label = route === UNROUTED ? 'other' : method
    const methods = this.#routes.getOrInsertComputed(route, createMethods)
    const { statuses, latency } = methods.getOrInsertComputed(label, createResponses)
    statuses.set(status, (statuses.get(status) ?? 0) + 1)
    if (status < 400) latency.observe(milliseconds / 1000)
  }

  totals(): Sample[] {
    return this.#all().flatMap(({ labels, statuses }) =>
      [...statuses].map(([status, count]): Sample => [`{${labels},status="${status}"}`, count]),
    )
  }

  latencies(): Sample[] {
    return this.#all().flatMap(({ labels, latency }) => latency.samples(labels))
  }

  #all() {
    return [...this.#routes].flatMap(([route, methods]) =>
      [...methods].map(([method, counts]) => ({
        ...counts,
        labels: `method="${method}",route="${route}"`,
      })),
    )
  }
}

/** Counters since the start of the daemon. */
const createCounters = () => ({
  requests: new RequestCounts(),
  changes: 0,
  commits: createHistogram(),
})

/** With null or undefined, unknown or nothing to count, the family is left out. */
type Value = number | null | undefined | readonly Sample[]

/** The sources of the metrics. */
type Sources = Partial<LiveGauges> &
  ReturnType<typeof createCounters> & { readonly stats: StoreStats }

type Family = readonly [
  type: 'counter' | 'gauge' | 'histogram',
  help: string,
  value: (sources: Sources) => Value,
]

const MAX_FDS = /^Max open files +(\d+)/m

/** The result of `read`; null without `/proc`, as in a chroot, or if no file can be opened. */
function unlessHidden(read: () => number): number | null {
  try {
    return read()
  } catch {
    return null
  }
}

/** Every family of metrics, by its name. */
export const FAMILIES: Readonly<Record<string, Family>> = {
  plantstore_http_requests_total: [
    'counter',
    'Answered requests.',
    ({ requests }) => requests.totals(),
  ],
  plantstore_http_request_duration_seconds: [
    'histogram',
    'Time from the head of a request to its response; refusals are not counted.',
    ({ requests }) => requests.latencies(),
  ],
  plantstore_commit_changes_total: [
    'counter',
    'Changes that were committed.',
    ({ changes }) => changes,
  ],
  plantstore_commit_duration_seconds: [
    'histogram',
    'Time per commit, fsync included; commits that changed nothing are not counted.',
    ({ commits }) => commits.samples(),
  ],
  plantstore_plants: ['gauge', 'Stored plants.', ({ plants }) => plants],
  plantstore_queue_changes: [
    'gauge',
    'Changes waiting for a commit.',
    ({ stats }) => stats.queuedWrites,
  ],
  plantstore_storage_writable: [
    'gauge',
    'Whether the database can be written, or read by a read-only plantstore (1), or not (0).',
    ({ stats }) => Number(stats.problem === null),
  ],
  plantstore_storage_damaged: [
    'gauge',
    'Whether a page of the database is known to be damaged (1) or not (0).',
    ({ stats }) => Number(stats.isDamaged ?? false),
  ],
  plantstore_database_bytes: ['gauge', 'Size of the database.', ({ stats }) => stats.databaseBytes],
  plantstore_wal_bytes: ['gauge', 'Size of the write-ahead log.', ({ stats }) => stats.walBytes],
  plantstore_disk_free_bytes: [
    'gauge',
    'Free space where the database is.',
    ({ stats }) => stats.freeBytes,
  ],
  plantstore_replica_lag_seconds: [
    'gauge',
    'Age of the last change that a standby has applied; 0 if it has every change.',
    ({ stats }) => stats.replica?.lagSeconds,
  ],
  plantstore_server_reconnects_total: [
    'counter',
    'Times that the database server was reached again after an outage.',
    ({ stats }) => stats.server?.reconnects,
  ],
  plantstore_acknowledged_commits_lost_total: [
    'counter',
    'Acknowledged commits that the database server has lost.',
    ({ stats }) => stats.server?.lostCommits,
  ],
  plantstore_changes_followers: [
    'gauge',
    'Clients that follow the change log.',
    ({ followers }) => followers,
  ],
  plantstore_tls_certificate_expiry_timestamp_seconds: [
    'gauge',
    'Expiry of the TLS certificate, in seconds since 1970.',
    ({ certificateExpiry }) => certificateExpiry && certificateExpiry / 1000,
  ],
  plantstore_backup_last_success_timestamp_seconds: [
    'gauge',
    'Time of the last backup, in seconds since 1970; 0 if there was none.',
    ({ lastBackupAt }) => lastBackupAt && lastBackupAt / 1000,
  ],
  plantstore_build_info: [
    'gauge',
    'The version and commit of plantstore, and the version of Bun.',
    ({ version }) => [[`{version="${version}",commit="${COMMIT}",bun="${Bun.version}"}`, 1]],
  ],
  plantstore_unsent_bytes: [
    'gauge',
    'Bytes of bodies being read, and of long responses that clients have not read.',
    ({ unsentBytes }) => unsentBytes,
  ],
  process_open_fds: [
    'gauge',
    'Open files and connections.',
    () => unlessHidden(() => readdirSync('/proc/self/fd').length),
  ],
  process_max_fds: [
    'gauge',
    'The limit of open files and connections.',
    () => unlessHidden(() => Number(MAX_FDS.exec(readFileSync('/proc/self/limits', 'utf8'))?.[1])),
  ],
  process_start_time_seconds: [
    'gauge',
    'Start of the process, in seconds since 1970.',
    () => performance.timeOrigin / 1000,
  ],
  process_resident_memory_bytes: [
    'gauge',
    'Resident memory.',
    () => unlessHidden(process.memoryUsage.rss),
  ],
}

function familyText(name: string, [type, help, read]: Family, sources: Sources): string[] {
  const value = read(sources)
  if (value == null) return []
  const samples: readonly Sample[] = typeof value === 'number' ? [['', value]] : value
  const lines = samples.map(([suffix, number]) => `${name}${suffix} ${number}`)
  return [`# HELP ${name} ${help}`, `# TYPE ${name} ${type}`, ...lines]
}

/** The metrics of a daemon. */
export type Metrics = ReturnType<typeof createMetrics>

/** Makes the metrics of a daemon, whose counters begin at zero. */
export function createMetrics() {
  const counters = createCounters()
  const { requests, commits } = counters
  return {
    /**
     * Counts a response. Clients cannot add labels: `route` is a pattern such as `/plants/:id`, or `/*` for a path or a
     * method that no route has.
     */
    countResponse(method: string, route: string, status: number, milliseconds: number): void {
      requests.add(method, route, status, milliseconds)
    },
    /** Counts a commit that changed something, unlike a probe of the disk or a batch refused entirely. */
    countCommit(changes: number, milliseconds: number): void {
      counters.changes += changes
      commits.observe(milliseconds / 1000)
    },
    /** All metrics in the Prometheus text format, version 0.0.4. */
    render(stats: StoreStats, gauges: Partial<LiveGauges> = {}): string {
      const sources = { ...gauges, ...counters, stats }
      const families = Object.entries(FAMILIES)
      return `${families.flatMap(([name, family]) => familyText(name, family, sources)).join('\n')}\n`
    },
  }
}
