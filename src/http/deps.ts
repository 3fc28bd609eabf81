// The parts of the app.

import type { Log } from '../log'
import type { Metrics } from '../metrics'
import type { Store } from '../store'
import type { Token } from '../token/token'
import type { Cors } from './cors'

/** The facts about a daemon that its store does not know. */
type Service = {
  readonly engine: 'sqlite' | 'postgresql'
  /** The name of the database, without its folder or server. */
  readonly database: string
  /** The time of the last backup in milliseconds since 1970, 0 if there is none; null if no backups are scheduled. */
  readonly lastBackupAt: () => number | null
  /** The expiry of the TLS certificate in milliseconds since 1970; null if there is none. */
  readonly certificateExpiry: number | null
  /** The address to which clients of a read-only daemon send changes; null if unknown. */
  readonly primaryUrl: string | null
}

/** A file of a page: the path of each compressed form, and the hash of its content. */
export type PageFile = {
  readonly page: string
  readonly name: string
  readonly type: string
  readonly hash: string
  readonly brotli: string
  readonly gzip: string
}

export type AppDeps = {
  readonly store: Store
  readonly metrics: Metrics
  readonly service: Service
  readonly log: Log
  /** Milliseconds since 1970, for the expiry of tokens. */
  readonly now: () => number
  /** The token of the configuration, accepted alongside those of the store. */
  readonly configuredToken: () => Token | null
  readonly maxBodyBytes: number
  /** True if each request is logged. */
  readonly logRequests: boolean
  /** The address of a request's client; null if there is none. */
  readonly clientOf: (request: Request) => string | null
  /** Closes the connection of a request after this many seconds without progress. */
  readonly timeOut: (request: Request, seconds: number) => void
  /** Requests per second for each token; null for no limit. */
  readonly rateLimit: number | null
  /** The other origins whose pages may call; null for none. */
  readonly cors: Cors | null
  /** The max-age of Strict-Transport-Security, in milliseconds (RFC 6797); null omits the header. */
  readonly hsts: number | null
  /** The files of the console and the reference; null if they are disabled. */
  readonly loadPages: (() => Promise<readonly PageFile[]>) | null
  /** Aborted when the daemon stops: responses then close their connections. */
  readonly stopping: AbortSignal
}
