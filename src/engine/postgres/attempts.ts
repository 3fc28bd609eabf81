// Attempts to commit a batch: in halves if the server refuses its data, or if a row is locked.

import type { Outcome, Write } from '../commit/write'
import { DISCARDED, isDataError, isLockTimeout, sqlStateOf } from './connecting/errors'
import type { Refuse } from './connecting/refusals'
import { LOCK_MS } from './connecting/settings'
import { LockedRowError, type Writer } from './lane/writer'
import {
  type BatchOutcomes,
  DISCARDS,
  LOCKED,
  type stepOf,
  stepOfFreeRows,
} from './sql/apply-writes'

export type ToStep = typeof stepOf

/** The outcome of a lone write that failed. */
function outcomeOf(error: unknown): Outcome {
  if (error instanceof LockedRowError) return LOCKED
  const state = sqlStateOf(error)
  return { error: 'unexpected', detail: state === DISCARDED ? DISCARDS : `${state} ${error}` }
}

/** Returns the functions that attempt to commit the batches of a store. */
export function createAttempts(writer: Writer, refuse: Refuse) {
  /**
   * Commits a batch. If the server refuses its data, or a row is locked, retries in halves, so that only the write at
   * fault is refused.
   */
  async function attempt(
    batch: readonly Write[],
    toStep: ToStep,
    onDoubt: () => void,
  ): Promise<BatchOutcomes> {
    const startedAt = performance.now()
    try {
      return await writer.run(toStep(batch), onDoubt)
    } catch (error) {
      // A wait of LOCK_MS was for the table, whose free rows are locked as well.
      const isBrief = performance.now() - startedAt < LOCK_MS
      if (isLockTimeout(error) && isBrief && toStep !== stepOfFreeRows) {
        return attempt(batch, stepOfFreeRows, onDoubt)
      }
      if (!(error instanceof LockedRowError) && !isDataError(error)) throw error
      if (batch.length === 1) return [outcomeOf(error)]
      const half = batch.length >> 1
      const first = await attempt(batch.slice(0, half), toStep, onDoubt)
      const rest = await attemptRest(batch.slice(half), toStep, onDoubt)
      return [...first, ...rest]
    }
  }

  /** Like `attempt`, if others of the batch may be stored already: a failure refuses these writes alone. */
  async function attemptRest(
    batch: readonly Write[],
    toStep: ToStep,
    onDoubt: () => void,
  ): Promise<BatchOutcomes> {
    try {
      return await attempt(batch, toStep, onDoubt)
    } catch (thrown) {
      const { error, message } = refuse(thrown)
      return batch.map(() => ({ error, message }))
    }
  }

  return { attempt, attemptRest }
}
