// Batches of group commit as steps of the writer.

import { InDoubtError } from '../../errors'
import type { CommitResult } from '../commit/group-commit'
import type { Outcome, Write } from '../commit/write'
import { observeCommit, type StoreUser } from '../store-user'
import { DISCARDED, isDataError, isLockTimeout, sqlStateOf } from './connection/errors'
import { LOCK_MS } from './connection/settings'
import type { Refuse, ServerState } from './connection/state'
import { LockedRowError, type Writer } from './lane/writer'
import type { LockedRows } from './locked-rows'
import {
  type BatchOutcomes,
  DISCARDS,
  LOCKED,
  stepOf,
  stepOfFreeRows,
  transactionStep,
} from './sql/apply-writes'

type ToStep = typeof stepOf

/** The outcome of a lone write that failed. */
function outcomeOf(error: unknown): Outcome {
  if (error instanceof LockedRowError) return LOCKED
  const state = sqlStateOf(error)
  return { error: 'unexpected', detail: state === DISCARDED ? DISCARDS : `${state} ${error}` }
}

/** Commits the batches of a store. */
export class Batches {
  constructor(
    private readonly writer: Writer,
    private readonly state: ServerState,
    private readonly refuse: Refuse,
    private readonly storeUser: StoreUser,
    private readonly lockedRows: LockedRows,
  ) {}

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
        throw this.refuse(error)
      },
    )
    const first = await Promise.race([outcomes, doubt.promise])
    return first ?? { inDoubt: outcomes }
  }

  /** Commits a batch, without the writes of rows that were just found locked. */
  async #commitFree(batch: readonly Write[], onDoubt: () => void): Promise<Outcome[]> {
    const states = batch.map((write) => this.lockedRows.stateOf(write))
    const attempts = batch.filter((_, index) => states[index] !== 'locked')
    if (attempts.length === 0) return batch.map(() => LOCKED)
    const toStep = states.includes('due') ? stepOfFreeRows : stepOf
    const outcomes = await this.#complete(attempts, toStep, onDoubt)
    this.lockedRows.noteOutcomes(attempts, outcomes)
    const outcomesByWrite = new Map(attempts.map((write, index) => [write, outcomes[index]]))
    return batch.map((write) => outcomesByWrite.get(write) ?? LOCKED)
  }

  /**
   * Retries creates that were refused although no plant with their id was found. Locking the row decides each of them.
   */
  async #complete(
    batch: readonly Write[],
    toStep: ToStep,
    onDoubt: () => void,
  ): Promise<Outcome[]> {
    const outcomes = [...(await this.#attempt(batch, toStep, onDoubt))]
    const unsettled = [...outcomes.keys()].filter((index) => outcomes[index] === undefined)
    if (unsettled.length > 0) {
      const retried = batch.filter((_, index) => outcomes[index] === undefined)
      const settled = await this.#attemptRest(retried, transactionStep, onDoubt)
      for (const [place, index] of unsettled.entries()) outcomes[index] = settled[place]
    }
    return outcomes.map((outcome) => outcome ?? { error: 'unexpected' })
  }

  /** Commits a batch. If the server refuses its data, or a row is locked, in halves: only the write at fault is refused. */
  async #attempt(
    batch: readonly Write[],
    toStep: ToStep,
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
      const isBrief = performance.now() - sentAt < LOCK_MS
      if (isLockTimeout(error) && isBrief && toStep !== stepOfFreeRows) {
        return this.#attempt(batch, stepOfFreeRows, onDoubt)
      }
      if (!(error instanceof LockedRowError) && !isDataError(error)) throw error
      if (batch.length === 1) return [outcomeOf(error)]
      const half = batch.length >> 1
      const first = await this.#attempt(batch.slice(0, half), toStep, onDoubt)
      return [...first, ...(await this.#attemptRest(batch.slice(half), toStep, onDoubt))]
    }
  }

  /** Like `#attempt`, if others of the batch may be stored already: a failure refuses these writes alone. */
  #attemptRest(
    batch: readonly Write[],
    toStep: ToStep,
    onDoubt: () => void,
  ): Promise<BatchOutcomes> {
    return this.#attempt(batch, toStep, onDoubt).catch((thrown) => {
      const refusal = this.refuse(thrown)
      if (refusal instanceof InDoubtError) throw refusal
      const { error, message } = refusal
      return batch.map(() => ({ error, message }))
    })
  }
}
