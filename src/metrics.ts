// What the daemon counts, in the Prometheus text format
// (https://prometheus.io/docs/instrumenting/exposition_formats/).
import { createHistogram } from './histogram'
import { type Kept, type OpenFiles, processGauges } from './process-metrics'
import { serverFamilies } from './server-metrics'
import type { StoreStats } from './store'

// Upper bounds of the buckets. In seconds, as Prometheus wants them; a create takes about one fsync.
const SECONDS = [0.0005, 0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 10]
const BATCHES = [1, 2, 4, 8, 16, 32, 64, 128, 256, 512, 1024, 4096]

type Route = {
  readonly statuses: Map<number, number>
  readonly latency: ReturnType<typeof createHistogram>
}

export type Metrics = ReturnType<typeof createMetrics>

/** The results of scheduled backups, updated after each. */
export type BackupStats = {
  /** When the last backup was taken, in milliseconds since 1970; 0: there is none. */
  readonly lastAt: number
  readonly lastBytes: number
  /** Since the start. */
  readonly failures: number
}

/** Facts about the process. */
export type About = {
  /** Of plantstore. */
  readonly version: string
  readonly droppedLogLines: () => number
  /** When the certificate for TLS expires, in milliseconds since 1970; null: there is none. */
  readonly certificateExpiry: (() => number) | null
  /** null: no backups are scheduled. */
  readonly backups: BackupStats | null
  /** What is open now; null: it cannot be counted here. */
  readonly countFiles: () => Promise<OpenFiles | null>
}

const UNKNOWN: About = {
  version: 'unknown',
  droppedLogLines: () => 0,
  certificateExpiry: null,
  backups: null,
  countFiles: async () => null,
}

const NOTHING: Kept = { unsentBytes: 0, files: null }

/** The counters of a daemon. */
export function createMetrics(about: About = UNKNOWN) {
  const { version, droppedLogLines, certificateExpiry, backups, countFiles } = about
  const routes = new Map<string, Map<string, Route>>()
  const batches = createHistogram(BATCHES)
  const commits = createHistogram(SECONDS)
  let created = 0
  let failedCredentials = 0

  return {
    /** Counts an answer. `route` is a pattern such as `/plants/:id`, so that there are few label values. */
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
    /** Counts a commit that changed something; not a probe of the disk, nor a batch that was refused entirely. */
    committed(changes: number, milliseconds: number): void {
      batches.observe(changes)
      commits.observe(milliseconds / 1000)
    },
    created(plants: number): void {
      created += plants
    },
    /** Counts a token that was refused with 40102. */
    failedCredentials(): void {
      failedCredentials++
    },
    countFiles,
    /** All metrics in the Prometheus text format, version 0.0.4. */
    render(stats: StoreStats, kept: Kept = NOTHING): string {
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
      family(
        size,
        'histogram',
        'Changes per commit; commits that changed nothing are not counted.',
        batches.render(size, ''),
      )
      const duration = 'plantstore_commit_duration_seconds'
      family(
        duration,
        'histogram',
        'Time per commit, fsync included; commits that changed nothing are not counted.',
        commits.render(duration, ''),
      )
      single('plantstore_plants_created_total', 'counter', 'Plants created over HTTP.', created)
      single(
        'plantstore_credentials_failed_total',
        'counter',
        'Tokens that are unknown, expired or revoked.',
        failedCredentials,
      )
      single('plantstore_queue_changes', 'gauge', 'Changes waiting for a commit.', stats.queued)
      single(
        'plantstore_storage_writable',
        'gauge',
        'Whether the database can be written (1) or not (0).',
        Number(stats.isWritable),
      )
      const { databaseBytes, walBytes, server } = stats
      if (databaseBytes !== null) {
        single('plantstore_database_bytes', 'gauge', 'Size of the database.', databaseBytes)
      }
      if (walBytes !== null) {
        single('plantstore_wal_bytes', 'gauge', 'Size of the write-ahead log.', walBytes)
      }
      for (const [name, help, samples] of server ? serverFamilies(server) : []) {
        family(name, 'counter', help, samples)
      }
      single(
        'plantstore_log_lines_dropped_total',
        'counter',
        'Log lines dropped because nobody read them or the disk was full.',
        droppedLogLines(),
      )
      if (certificateExpiry) {
        single(
          'plantstore_tls_certificate_expiry_timestamp_seconds',
          'gauge',
          'Expiry of the TLS certificate, in seconds since 1970.',
          certificateExpiry() / 1000,
        )
      }
      if (backups) {
        single(
          'plantstore_backup_last_success_timestamp_seconds',
          'gauge',
          'Time of the last backup, in seconds since 1970; 0 if there is none.',
          backups.lastAt / 1000,
        )
        single('plantstore_backup_bytes', 'gauge', 'Size of the last backup.', backups.lastBytes)
        single(
          'plantstore_backup_failures_total',
          'counter',
          'Scheduled backups that failed.',
          backups.failures,
        )
      }
      family('plantstore_build_info', 'gauge', 'The versions of plantstore and Bun.', [
        `plantstore_build_info{version="${version}",bun="${Bun.version}"} 1`,
      ])
      for (const [name, help, value] of processGauges(kept)) {
        if (value != null) single(name, 'gauge', help, value)
      }
      return `${lines.join('\n')}\n`
    },
  }
}
