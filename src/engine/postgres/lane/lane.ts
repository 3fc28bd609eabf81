// A lane: the row of one writing process, with a sequence number that each commit increments. Phases:
// - enter: a new connection increments the number. This shows whether a commit in doubt was made, and fences it: if it
//   was not made by then, it never will be.
// - advance: each step is sent with the next number.
// - leave: the row is removed.

import type { SQL } from 'bun'
import type { StoreUser } from '../../store-user'
import type { Ask, Connection } from '../connection/connection'
import { isInDoubt } from '../connection/errors'
import { isSameServer } from '../connection/hosts'
import type { ServerState } from '../connection/state'
import { renameChangeLog } from './change-log-row'
import { type Fence, fence, type LaneStep, makeLane, removeLane, sequenceOf } from './lane-row'

/** A commit of the writer. It can be sent again if it was not made. */
export type Step<Result> = {
  /**
   * Sends the step. Resolves to the ids of refused plants, which the lane keeps too. Resolves
   * to 'elsewhere' if the lane had another number: nothing was stored.
   */
  send(sql: SQL, laneStep: LaneStep): Promise<StepResult>
  /** The result of a committed step. `ask` reads on another connection than the writer's. */
  finish(refusedIds: string, ask: Ask): Promise<Result>
}

/** `cursor`: of the last entry that the step has added to the change log. */
type StepResult =
  | { readonly refusedIds: string; readonly cursor?: string | undefined }
  | 'elsewhere'

/** The fate of a step whose answer was lost; if it was made, the refused ids kept by the lane. */
type Verdict = { readonly refusedIds: string } | 'not made' | 'unknown'

// The table was emptied, an older backup restored, or a standby promoted that never had the row.
export const ROW_GONE = `this process's row in the table "lanes" is gone; earlier commits may or may not be stored`

/** The lane of one process. At most one step is under way. */
export class Lane {
  /** See `ServerStats`. */
  lostCommits = 0
  /** See `ChangeLog`. */
  lastCursor: string | undefined
  /** True if a change log is kept: the steps add to it. */
  hasChangeLog = false
  #name: string | null = null
  /** True if the server may have lost commits, and the change log still has its old name. */
  #hasLost = false
  /** The last connection to enter the lane. No other may write. */
  #entered: Connection | null = null
  /** The last step that was confirmed. */
  #confirmed = 0
  /** True if a sent step is not settled. */
  #isInDoubt = false
  /** The fate of the last step in doubt, from the next {@link enter} until another step is sent. */
  verdict: Verdict = 'not made'

  constructor(
    private readonly storeUser: StoreUser,
    private readonly state: ServerState,
  ) {}

  /** Settles the step in doubt. Called with each new connection before its first write. */
  async enter(connection: Connection): Promise<void> {
    if (this.#name !== null) await this.#fence(connection, this.#name)
    // A command makes its lane with its first write: a newer plantstore may have upgraded the schema by then.
    if (this.#name === null && this.storeUser.outlivesOutages) await this.#make(connection)
    this.#entered = connection
  }

  /** Resolves to false if a server lacks commits that were confirmed to this process. */
  async hasAll({ ask }: Connection): Promise<boolean> {
    const lane = this.#name
    if (lane === null) return true
    // Before the query: writes may go on.
    const confirmed = this.#confirmed
    try {
      const seq = await ask((sql) => sequenceOf(sql, lane))
      return seq !== null && seq >= confirmed
    } catch (error) {
      // Another database, or one without the tables.
      if (isInDoubt(error)) throw error
      return false
    }
  }

  /**
   * Sends a step, and resolves as it does; 'elsewhere': a connection has to enter the lane again. If it rejects with an
   * error {@link isInDoubt}, the next {@link enter} settles the step.
   */
  async advance(connection: Connection, send: Step<unknown>['send']): Promise<StepResult> {
    if (connection !== this.#entered) return 'elsewhere'
    this.verdict = 'not made'
    if (this.#name === null) await this.#make(connection)
    const seq = this.#confirmed + 1
    this.#isInDoubt = true
    this.state.isWriting = true
    try {
      const laneStep = { lane: this.#name ?? '', seq, hasChangeLog: this.hasChangeLog }
      const result = await connection.ask((sql) => send(sql, laneStep))
      if (connection !== this.#entered) throw new Error('the answer came after the fence')
      this.#isInDoubt = false
      if (result === 'elsewhere') return result
      this.state.confirmedAt = performance.now()
      this.#confirmed = seq
      this.lastCursor = result.cursor ?? this.lastCursor
      return result
    } catch (error) {
      if (connection === this.#entered && !isInDoubt(error)) this.#isInDoubt = false
      throw error
    } finally {
      this.state.isWriting = false
    }
  }

  /** Removes the row. */
  async leave({ ask }: Connection): Promise<void> {
    const lane = this.#name
    if (lane !== null) await ask((sql) => removeLane(sql, lane))
  }

  async #make(connection: Connection): Promise<void> {
    const { lane, hasChangeLog } = await connection.ask(makeLane)
    this.hasChangeLog = hasChangeLog
    this.#confirmed = 0
    await this.#renameChangeLog(connection)
    this.#name = lane
  }

  async #renameChangeLog({ ask, standing }: Connection): Promise<void> {
    if (this.hasChangeLog) await ask((sql) => renameChangeLog(sql, standing, this.#hasLost))
    this.#hasLost = false
  }

  async #fence(connection: Connection, lane: string): Promise<void> {
    const { log } = this.storeUser
    // No later step was ever sent.
    const top = this.#confirmed + 1
    const fenced = await connection.ask((sql) => fence(sql, { lane, seq: top }))
    this.state.confirmedAt = performance.now()
    this.lastCursor = undefined
    if (this.#isInDoubt) this.verdict = this.#settle(fenced, top)
    this.#isInDoubt = false
    if (!fenced) {
      this.#name = null
      this.#hasLost = true
      log('error', 'lane-gone', { detail: ROW_GONE })
      // On the server that confirmed them, the row was deleted. Another one never had it, nor what followed.
      const hasMoved = this.#entered !== null && !isSameServer(this.#entered, connection)
      if (hasMoved) this.#reportLost(this.#confirmed)
      return
    }
    this.#reportLost(this.#confirmed - fenced.lastStep)
    this.hasChangeLog = fenced.hasChangeLog
    this.#confirmed = top + 1
    await this.#renameChangeLog(connection)
  }

  /** Reports commits that were confirmed and are lost. */
  #reportLost(commits: number): void {
    if (commits <= 0) return
    this.#hasLost = true
    this.lostCommits += commits
    this.storeUser.log('error', 'acknowledged-lost', { commits })
  }

  #settle(fenced: Fence | null, top: number): Verdict {
    if (!fenced) return 'unknown'
    const isMade = fenced.lastStep >= top
    this.storeUser.log('warn', 'commit-settled', { made: isMade })
    return isMade ? { refusedIds: fenced.refusedIds } : 'not made'
  }
}
