// Why a server cannot be written: it is lost, its tables are altered, or it refuses statements. Requests, /health,
// metrics and the log read this one state.

import { InDoubtError, messageOf, RequestError } from '../../../errors'
import type { Log } from '../../../log'
import type { StoreUser } from '../../store-user'
import { errorNameOf, isOfServer, sqlStateOf } from './errors'
import { LOCK_MS } from './settings'

// A refusal may repeat for long: it is logged no more often than this.
const LOGGED_EVERY_MS = 60_000

// Longer than a write waits for a lock.
const STALLED_MS = LOCK_MS + 1000

type Refusal = { readonly error: RequestError; readonly since: number; isLogged: boolean }

export class ServerState {
  /** The time at which the commit under way was sent; null if there is none. */
  writingSince: number | null = null
  /** The time of the last confirmed commit. */
  confirmedAt = Number.NEGATIVE_INFINITY
  #lostAt: number | null = null
  #alterations: readonly string[] = []
  #refusal: Refusal | null = null
  readonly #loggedAt = new Map<string, number>()

  constructor(private readonly log: Log) {}

  lose(): void {
    this.#lostAt ??= performance.now()
  }

  find(): void {
    this.#lostAt = null
  }

  /** Sets the alterations of the tables, of which each is logged once. */
  setAlterations(texts: readonly string[]): void {
    for (const detail of texts) {
      if (!this.#alterations.includes(detail)) this.log('error', 'tables-altered', { detail })
    }
    this.#alterations = texts
  }

  /** Notes that the server has refused a statement: until a trial succeeds, no write is expected to. */
  refuse(thrown: unknown): void {
    const sqlstate = sqlStateOf(thrown)
    const isFull = errorNameOf(thrown) === 'disk full'
    const error = isFull
      ? new RequestError('disk full')
      : new RequestError(
          'storage failed',
          `the database server refuses statements (SQLSTATE ${sqlstate}); see the log`,
        )
    const now = performance.now()
    const { since, isLogged } = this.#refusal ?? { since: now, isLogged: false }
    const isDue =
      now >= (this.#loggedAt.get(sqlstate) ?? Number.NEGATIVE_INFINITY) + LOGGED_EVERY_MS
    this.#refusal = { error, since, isLogged: isLogged || isDue }
    if (!isDue) return
    this.#loggedAt.set(sqlstate, now)
    const fields = { sqlstate, detail: messageOf(thrown) }
    if (isFull) this.log('error', 'disk-full', fields)
    else this.log('error', 'statement-refused', fields)
  }

  /** Notes that a trial has succeeded. */
  accept(): void {
    const refusal = this.#refusal
    this.#refusal = null
    if (!refusal?.isLogged) return
    const fields = { seconds: Math.round((performance.now() - refusal.since) / 1000) }
    if (refusal.error.error === 'disk full') this.log('info', 'writable-again', fields)
    else this.log('info', 'statements-accepted', fields)
  }

  get isRefusing(): boolean {
    return this.#refusal !== null
  }

  /** The reason that writes could be lost or changed; none is tried. */
  get alteration(): RequestError | null {
    return this.#alterations.length === 0
      ? null
      : new RequestError('storage failed', 'another program has altered the tables; see the log')
  }

  /** The reason that nothing is read or written. */
  get outage(): RequestError | null {
    if (this.#lostAt === null) return null
    const seconds = Math.floor((performance.now() - this.#lostAt) / 1000)
    return new RequestError(
      'storage failed',
      `no connection to the database server for ${seconds} s`,
    )
  }

  /** A commit that the server, or its standby, has not confirmed for long. */
  get #stall(): RequestError | null {
    const waitMs = performance.now() - (this.writingSince ?? performance.now())
    if (waitMs < STALLED_MS) return null
    const seconds = Math.floor(waitMs / 1000)
    return new RequestError(
      'storage failed',
      `the database server has confirmed no write for ${seconds} s`,
    )
  }

  /** The reason that the server cannot be written; null if there is none. */
  problem(): RequestError | null {
    return this.outage ?? this.alteration ?? this.#stall ?? this.#refusal?.error ?? null
  }
}

/**
 * Returns the error shown to a client or a user when the server refuses a statement; `failure`: the message, unless the
 * refusal has another name.
 */
export type Refuse = (error: unknown, failure?: string) => RequestError | InDoubtError

export const createRefuse =
  (state: ServerState, { outlivesOutages }: StoreUser): Refuse =>
  (error, failure) => {
    if (error instanceof RequestError || error instanceof InDoubtError) return error
    if (isOfServer(error)) state.refuse(error)
    const known = errorNameOf(error)
    const name = known ?? 'storage failed'
    return outlivesOutages
      ? new RequestError(name, known ? undefined : failure)
      : new RequestError(
          name,
          `the database server answered: ${messageOf(error)} (${sqlStateOf(error)})`,
        )
  }
