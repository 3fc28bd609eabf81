// Attempts to commit a batch: in halves if the server refuses its data, or if a row is locked.

import { type BatchOutcome, POSTPONED, type Write } from '../commit/write'
import { DISCARDED, isDataError, isLockTimeout, sqlStateOf } from './connecting/errors'
import type { Refuse } from './connecting/refusals'
import { LOCK_MS } from './connecting/settings'
import { LockedRowError, type Writer } from './lane/writer'
import { type Attempted, DISCARDS, type stepOf, stepOfFreeRows } from './sql/apply-writes'

type ToStep = typeof stepOf

/** The number of attempts that may meet a locked row: enough to find one. Then the rest of the batch is postponed. */
const patienceFor = (batch: readonly Write[]) => ({ left: 2 + Math.ceil(Math.log2(batch.length)) })

/** The outcome of a lone write that failed. */
function outcomeOf(error: unknown): BatchOutcome {
  if (error instanceof LockedRowError) return POSTPONED
  const state = sqlStateOf(error)
  return { error: 'unexpected', detail: state === DISCARDED ? DISCARDS : `${state} ${error}` }
}

/** Returns the functions that attempt to commit the batches of a store. */
export function createAttempts(writer: Writer, refuse: Refuse) {
  /**
   * Commits a batch. If the server refuses its data, or a row is locked, retries in halves, so that only the write at
   * fault is refused or postponed.
   */
  async function attempt(
    batch: readonly Write[],
    toStep: ToStep,
    onDoubt: () => void,
    patience = patienceFor(batch),
  ): Promise<Attempted> {
    if (patience.left === 0) return batch.map(() => POSTPONED)
    const startedAt = performance.now()
    try {
      return await writer.run(toStep(batch), onDoubt)
    } catch (error) {
      // Not after the longest wait, as for the lock of the table.
      const isBrief = performance.now() - startedAt < LOCK_MS
      if (isLockTimeout(error) && isBrief && toStep !== stepOfFreeRows) {
        return attempt(batch, stepOfFreeRows, onDoubt)
      }
      const isLocked = error instanceof LockedRowError
      if (!isLocked && !isDataError(error)) throw error
      if (isLocked) patience.left -= 1
      if (batch.length === 1) return [outcomeOf(error)]
      const half = batch.length >> 1
      const first = await attempt(batch.slice(0, half), toStep, onDoubt, patience)
      const rest = await attemptRest(batch.slice(half), toStep, onDoubt, patience)
      return [...first, ...rest]
    }
  }

  /** Like `attempt`, if others of the batch may be stored already: a failure refuses these writes alone. */
  async function attemptRest(
    batch: readonly Write[],
    toStep: ToStep,
    onDoubt: () => void,
    patience = patienceFor(batch),
  ): Promise<Attempted> {
    try {
      return await attempt(batch, toStep, onDoubt, patience)
    } catch (thrown) {
      const { error, message } = refuse(thrown)
      return batch.map(() => ({ error, message }))
    }
  }

  return { attempt, attemptRest }
}
