// What the server refuses though the data is not at fault: a privilege, a table or disk space is missing. It is logged, and
// the store is unhealthy.

import { ApiError, codeOf, messageOf } from '../../errors'
import type { Role } from '../role'
import { errorNumberOf, isDataError, isRetried, sqlStateOf } from './errors'

// Each SQLSTATE is logged once, then from time to time.
const LOGGED_EVERY_MS = 60_000
// How long a refusal counts, if nobody tries again.
const COUNTS_MS = 10_000
// A lock that was not released, and a statement that took too long: the next one may succeed.
const PASSING = ['55P03', '57014']

export class Refusals {
  #problem: ApiError | null = null
  #problemAt = 0
  readonly #loggedAt = new Map<string, number>()

  constructor(private readonly role: Role) {}

  /** The error that a client, or the user of a command, gets for what the server answered. */
  refuse(error: unknown, message?: string): ApiError {
    if (error instanceof ApiError) return error
    const number = errorNumberOf(error)
    const state = sqlStateOf(error)
    const isServers = state !== '' && !isRetried(error) && !isDataError(error)
    if (isServers) this.note(error, PASSING.includes(state))
    if (!this.role.outlivesOutages) {
      return new ApiError(number, `the database server answered: ${messageOf(error)}`)
    }
    return new ApiError(number, number === 50302 ? message : undefined)
  }

  /** Logs what the server answered; the store is unhealthy for a while, unless the refusal `isPassing`. */
  note(error: unknown, isPassing = false): void {
    const sqlstate = sqlStateOf(error) || codeOf(error)
    const isFull = errorNumberOf(error) === 50701
    const now = performance.now()
    if (!isPassing) {
      const reason = `the database server refuses statements (SQLSTATE ${sqlstate}); see the log`
      this.#problem = isFull ? new ApiError(50701) : new ApiError(50302, reason)
      this.#problemAt = now
    }
    if (now < (this.#loggedAt.get(sqlstate) ?? Number.NEGATIVE_INFINITY) + LOGGED_EVERY_MS) return
    this.#loggedAt.set(sqlstate, now)
    const detail = messageOf(error)
    if (isFull) this.role.log('error', 'disk-full', { detail })
    else this.role.log('error', 'statement-refused', { sqlstate, detail })
  }

  /** A commit has changed something: the disk is not full. */
  committed(): void {
    if (this.#problem?.error === 50701) this.#problem = null
  }

  /** What the server has refused lately; null: nothing. */
  problem(): ApiError | null {
    return performance.now() < this.#problemAt + COUNTS_MS ? this.#problem : null
  }
}
