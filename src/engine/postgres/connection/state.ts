// Why a server cannot be written: it is lost, its tables are altered, or it refuses statements. Requests, /health,
// metrics and the log read this one state.

import { messageOf } from '../../../errors'
import { InDoubtError, RequestError } from '../../../request-errors'
import type { StoreUser } from '../../store-user'
import { describeError, errorNameOf, isOfServer, sqlStateOf } from './errors'

export class ServerState {
  /** True while a commit is under way. */
  isWriting = false
  /** The time of the last confirmed commit. */
  confirmedAt = Number.NEGATIVE_INFINITY
  #lostAt: number | null = null
  #alterations: readonly string[] = []
  /** The last failure since `refusedAt`, and the SQLSTATEs that were logged since. */
  #failure: RequestError | null = null
  #refusedAt = 0
  readonly #loggedStates = new Set<string>()

  constructor(private readonly storeUser: StoreUser) {}

  lose(): void {
    this.#lostAt ??= performance.now()
  }

  find(): void {
    this.#lostAt = null
  }

  /** Sets the alterations of the tables, of which each is logged once. */
  setAlterations(texts: readonly string[]): void {
    for (const detail of texts) {
      if (!this.#alterations.includes(detail))
        this.storeUser.log('error', 'tables-altered', { detail })
    }
    this.#alterations = texts
  }

  /** Notes that the server has refused a statement: until a probe succeeds, no write is expected to. */
  refuse(thrown: unknown): void {
    const sqlstate = sqlStateOf(thrown)
    if (!this.#failure) this.#refusedAt = performance.now()
    const isFull = errorNameOf(thrown) === 'disk full'
    this.#failure = isFull
      ? new RequestError('disk full')
      : new RequestError(
          'storage failed',
          `the database server refuses statements (SQLSTATE ${sqlstate}); see the log`,
        )
    if (this.#loggedStates.has(sqlstate)) return
    this.#loggedStates.add(sqlstate)
    const fields = { sqlstate, detail: messageOf(thrown) }
    if (isFull) this.storeUser.log('error', 'disk-full', fields)
    else this.storeUser.log('error', 'statement-refused', fields)
  }

  /** Notes that a probe has succeeded. */
  accept(): void {
    if (!this.#failure) return
    const isFull = this.#failure.error === 'disk full'
    const fields = { seconds: Math.round((performance.now() - this.#refusedAt) / 1000) }
    this.#failure = null
    this.#loggedStates.clear()
    if (isFull) this.storeUser.log('info', 'writable-again', fields)
    else this.storeUser.log('info', 'statements-accepted', fields)
  }

  get isRefusing(): boolean {
    return this.#failure !== null
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

  /** The reason that the server cannot be written; null if there is none. */
  problem(): RequestError | null {
    return this.outage ?? this.alteration ?? this.#failure
  }

  /**
   * The error shown to a client or a user when the server refuses a statement; `failure`: the message, unless the refusal
   * has another name.
   */
  refusalOf(error: unknown, failure?: string): RequestError | InDoubtError {
    if (error instanceof RequestError || error instanceof InDoubtError) return error
    if (isOfServer(error)) this.refuse(error)
    const name = errorNameOf(error) ?? 'storage failed'
    // The user of a command sees no log.
    if (!this.storeUser.outlivesOutages)
      return new RequestError(name, `the database server answered: ${describeError(error)}`)
    return new RequestError(name, name === 'storage failed' ? failure : undefined)
  }
}
