// Refusals by the server that are not the fault of the data: a missing privilege, table or disk space. They are logged,
// and the store is unhealthy until the same kind of statement succeeds, as a create says nothing about deletes or
// reads. A rehearsal tries all kinds, and is a kind itself. It writes nothing, so it misses full disks and policies:
// after a refused change, a trial writes a plant and rolls back.

import { codeOf, type FailedAccess, messageOf, RequestError } from '../../../errors'
import { KIND_NAMES } from '../../commit/kinds'
import type { StoreUser } from '../../store-user'
import { errorNameOf, hasWaited, isDataError, isRetried, sqlStateOf } from './errors'

// Each SQLSTATE is logged once, then from time to time.
const LOGGED_EVERY_MS = 60_000
// A refusal expires after this time.
const COUNTS_MS = 10_000
const REHEARSAL = 'rehearsal'
const TRIAL = 'trial'
const CHANGES: readonly string[] = [...KIND_NAMES, TRIAL]

type Refused = { readonly problem: RequestError; readonly at: number }

export class Refusals {
  /** The last refusal of each kind: the name of a change, a reading connection, {@link REHEARSAL} or {@link TRIAL}. */
  readonly #refused = new Map<string, Refused>()
  readonly #loggedAt = new Map<string, number>()
  #provedAt = Number.NEGATIVE_INFINITY

  constructor(private readonly storeUser: StoreUser) {}

  /** The error shown to a client or a user when the server refuses statements of these kinds. */
  refuse(
    error: unknown,
    kinds: Iterable<string>,
    failure: FailedAccess = 'cannot write',
  ): RequestError {
    if (error instanceof RequestError) return error
    const name = errorNameOf(error) ?? failure
    const state = sqlStateOf(error)
    if (state !== '' && !isRetried(error) && !isDataError(error)) {
      if (!hasWaited(error)) this.#note(error, kinds)
      this.#log(error)
    }
    if (!this.storeUser.outlivesOutages) {
      return new RequestError(name, `the database server answered: ${messageOf(error)}`)
    }
    return new RequestError(name)
  }

  /** Notes a successful read of this kind. */
  answered(kind: string): void {
    if (this.#refused.size > 0) this.#refused.delete(kind)
  }

  /** Notes that changes of these kinds were stored. */
  committed(kinds: Iterable<string>): void {
    if (this.#refused.size === 0) return
    for (const kind of kinds) this.#refused.delete(kind)
    this.#provedAt = performance.now()
  }

  /** Notes the errors of a complete rehearsal. */
  rehearsed(errors: readonly unknown[]): void {
    this.#refused.delete(REHEARSAL)
    for (const error of errors) {
      this.#note(error, [REHEARSAL])
      this.#log(error)
    }
  }

  /** True if changes were refused lately, so that a trial is due. */
  hasRefusedChanges(): boolean {
    return CHANGES.some((kind) => this.#counts(this.#refused.get(kind)))
  }

  /** Notes the result of a trial. */
  tried(error: unknown): void {
    if (error) this.refuse(error, [TRIAL])
    else this.committed(CHANGES)
  }

  /** True if a change was stored since this time despite a refusal: an earlier rehearsal may be wrong. */
  isOutdated(time: number): boolean {
    return this.#provedAt >= time
  }

  /** The latest refusal by the server that still counts; null if there is none. */
  problem(): RequestError | null {
    const counting = [...this.#refused.values()].filter((it) => this.#counts(it))
    return counting.at(-1)?.problem ?? null
  }

  #counts(refused: Refused | undefined): boolean {
    return refused !== undefined && refused.at > performance.now() - COUNTS_MS
  }

  #note(error: unknown, kinds: Iterable<string>): void {
    const reason = `the database server refuses statements (SQLSTATE ${stateOf(error)}); see the log`
    const problem = isDiskFull(error)
      ? new RequestError('disk full')
      : new RequestError('cannot write', reason)
    const at = performance.now()
    for (const kind of kinds) {
      // The newest is last.
      this.#refused.delete(kind)
      this.#refused.set(kind, { problem, at })
    }
  }

  #log(error: unknown): void {
    const sqlstate = stateOf(error)
    const now = performance.now()
    if (now < (this.#loggedAt.get(sqlstate) ?? Number.NEGATIVE_INFINITY) + LOGGED_EVERY_MS) return
    this.#loggedAt.set(sqlstate, now)
    const detail = messageOf(error)
    if (isDiskFull(error)) this.storeUser.log('error', 'disk-full', { detail })
    else this.storeUser.log('error', 'statement-refused', { sqlstate, detail })
  }
}

const stateOf = (error: unknown): string => sqlStateOf(error) || codeOf(error)
const isDiskFull = (error: unknown): boolean => errorNameOf(error) === 'disk full'
