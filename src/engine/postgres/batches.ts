// Batches of group commit as steps of the writer.

import type { CommitResult } from '../commit/group-commit'
import type { Outcome, Write } from '../commit/write'
import type { StorageState } from '../storage-state'
import { observeCommit, type StoreUser } from '../store-user'
import { createAttempts, type ToStep } from './attempts'
import type { Refuse } from './connecting/refusals'
import type { Writer } from './lane/writer'
import type { LockedRows } from './locked-rows'
import { LOCKED, stepOf, stepOfFreeRows, transactionStep } from './sql/apply-writes'

/** Returns the function that commits the batches of a store. */
export function createBatches(
  writer: Writer,
  storage: StorageState,
  refuse: Refuse,
  storeUser: StoreUser,
  lockedRows: LockedRows,
) {
  const { attempt, attemptRest } = createAttempts(writer, refuse)

  /**
   * Retries creates that were refused although no plant with their id was found. Locking the row decides each of them.
   */
  async function complete(
    batch: readonly Write[],
    toStep: ToStep,
    onDoubt: () => void,
  ): Promise<Outcome[]> {
    const outcomes = [...(await attempt(batch, toStep, onDoubt))]
    const unsettled = [...outcomes.keys()].filter((index) => outcomes[index] === undefined)
    if (unsettled.length > 0) {
      const retried = batch.filter((_, index) => outcomes[index] === undefined)
      const settled = await attemptRest(retried, transactionStep, onDoubt)
      for (const [place, index] of unsettled.entries()) outcomes[index] = settled[place]
    }
    return outcomes.map((outcome) => outcome ?? { error: 'unexpected' })
  }

  /** Commits a batch, without the writes of rows that were just found locked. */
  async function commitAll(batch: readonly Write[], onDoubt: () => void): Promise<Outcome[]> {
    const states = batch.map((write) => lockedRows.stateOf(write))
    const attempts = batch.filter((_, index) => states[index] !== 'locked')
    if (attempts.length === 0) return batch.map(() => LOCKED)
    const outcomes = await complete(
      attempts,
      states.includes('due') ? stepOfFreeRows : stepOf,
      onDoubt,
    )
    lockedRows.noteOutcomes(attempts, outcomes)
    const outcomeOf = new Map(attempts.map((write, index) => [write, outcomes[index]]))
    return batch.map((write) => outcomeOf.get(write) ?? LOCKED)
  }

  /** Makes a batch durable. In doubt, it promises the outcomes for when the server is found again. */
  return async (batch: readonly Write[]): Promise<CommitResult> => {
    const startedAt = performance.now()
    const doubt = Promise.withResolvers<null>()
    const onDoubt = () => {
      storeUser.log('warn', 'commit-in-doubt', { changes: batch.length })
      doubt.resolve(null)
    }
    const refusal = storage.refusal('queuedWrite')
    if (refusal) throw refusal
    const outcomes = commitAll(batch, onDoubt).then(
      (settled) => {
        observeCommit(storeUser, batch, settled, performance.now() - startedAt)
        return settled
      },
      (error) => {
        throw refuse(error)
      },
    )
    const first = await Promise.race([outcomes, doubt.promise])
    return first ?? { inDoubt: outcomes }
  }
}
