// The metrics of the process, and of what its clients keep open.

/** How much is open now. */
export type OpenFiles = {
  readonly open: number
  /** null: not known, because not even that can be counted. */
  readonly connections: number | null
  readonly limit: number
}

/** What clients keep: `files` is null where it cannot be counted. */
export type Kept = { readonly unsentBytes: number; readonly files: OpenFiles | null }

/** A gauge in the Prometheus text format: its name, its help and its value, if it is known. */
type Gauge = readonly [name: string, help: string, value: number | null | undefined]

export const processGauges = ({ unsentBytes, files }: Kept): readonly Gauge[] => [
  ['plantstore_open_connections', 'Open connections of clients.', files?.connections],
  ['plantstore_unsent_bytes', 'Bytes of long answers that clients have not read.', unsentBytes],
  ['process_open_fds', 'Open files and connections.', files?.open],
  ['process_max_fds', 'The limit of open files and connections.', files?.limit],
  [
    'process_start_time_seconds',
    'Start of the process, in seconds since 1970.',
    performance.timeOrigin / 1000,
  ],
  ['process_resident_memory_bytes', 'Resident memory.', process.memoryUsage.rss()],
]
