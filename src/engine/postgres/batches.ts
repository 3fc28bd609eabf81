// Batches of group commit as steps of the writer.

import { InDoubtError } from '../../request-errors'
import type { CommitResult } from '../commit/group-commit'
import type { Outcome, Write } from '../commit/write'
import { observeCommit, type StoreUser } from '../store-user'
import { describeError, isDataError, isLockTimeout } from './connection/errors'
import { LOCK_MS } from './connection/settings'
import type { ServerState } from './connection/state'
import type { Writer } from './lane/writer'
import { LockedRows } from './locked-rows'
import { type BatchOutcomes, LOCKED, stepOf, stepOfFreeRows } from './sql/apply-writes'

/** Commits the batches of a store. */
export class Batches {
  readonly #lockedRows: LockedRows

  constructor(
    private readonly writer: Writer,
    private readonly state: ServerState,
    private readonly storeUser: StoreUser,
  ) {
    this.#lockedRows = new LockedRows(storeUser.log)
  }

  /** Makes a batch durable. In doubt, it promises the outcomes for when the server is found again. */
  async commit(batch: readonly Write[]): Promise<CommitResult> {
    const startedAt = performance.now()
    const doubt = Promise.withResolvers<null>()
    const onDoubt = () => {
      this.storeUser.log('warn', 'commit-in-doubt', { changes: batch.length })
      doubt.resolve(null)
    }
    const { alteration } = this.state
    if (alteration) throw alteration
    const outcomes = this.#commitFree(batch, onDoubt).then(
      (settled) => {
        observeCommit(this.storeUser, batch, settled, performance.now() - startedAt)
        return settled
      },
      (error) => {
        throw this.state.refusalOf(error)
      },
    )
    const first = await Promise.race([outcomes, doubt.promise])
    return first ?? { inDoubt: outcomes }
  }

  /** Commits a batch, without the writes of rows that were just found locked. */
  async #commitFree(batch: readonly Write[], onDoubt: () => void): Promise<Outcome[]> {
    const states = batch.map((write) => this.#lockedRows.stateOf(write))
    const attempts = batch.filter((_, index) => states[index] !== 'locked')
    if (attempts.length === 0) return batch.map(() => LOCKED)
    const toStep = states.includes('due') ? stepOfFreeRows : stepOf
    const outcomes = await this.#attempt(attempts, toStep, onDoubt)
    this.#lockedRows.noteOutcomes(attempts, outcomes)
    const settled = outcomes.values()
    return states.map((state) => (state === 'locked' ? LOCKED : (settled.next().value ?? LOCKED)))
  }

  /** Commits a batch. If the server refuses its data, or a row is locked, in halves: only the write at fault is refused. */
  async #attempt(
    batch: readonly Write[],
    toStep: typeof stepOf,
    onDoubt: () => void,
  ): Promise<BatchOutcomes> {
    const step = toStep(batch)
    let sentAt = 0
    const send: typeof step.send = (sql, laneStep) => {
      sentAt = performance.now()
      return step.send(sql, laneStep)
    }
    try {
      return await this.writer.run({ ...step, send }, onDoubt)
    } catch (error) {
      // A wait of LOCK_MS was for the table, whose free rows are locked as well.
      const isOfRow = isLockTimeout(error) && performance.now() - sentAt < LOCK_MS
      if (isOfRow && toStep !== stepOfFreeRows) return this.#attempt(batch, stepOfFreeRows, onDoubt)
      if (!isOfRow && !isDataError(error)) throw error
      if (batch.length === 1)
        return [isOfRow ? LOCKED : { error: 'unexpected', detail: describeError(error) }]
      const half = batch.length >> 1
      const first = await this.#attempt(batch.slice(0, half), toStep, onDoubt)
      const rest = batch.slice(half)
      // The first half may be stored: a failure of the rest refuses only that.
      const refuseRest = (thrown: unknown): BatchOutcomes => {
        const refusal = this.state.refusalOf(thrown)
        if (refusal instanceof InDoubtError) throw refusal
        return rest.map(() => ({ error: refusal.error, message: refusal.message }))
      }
      return [...first, ...(await this.#attempt(rest, toStep, onDoubt).catch(refuseRest))]
    }
  }
}
