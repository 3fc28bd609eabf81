// Batches of group commit as steps of the writer.

import type { Committed } from '../commit/group-commit'
import { hasWritten, isDone, type Outcome, type Write } from '../commit/write'
import { observeCommit, type StoreUser } from '../store-user'
import { DISCARDED, isDataError, sqlStateOf } from './connecting/errors'
import type { Refusals } from './connecting/refusals'
import type { Writer } from './lane/writer'
import { type Attempted, stepOf, transactionStep } from './sql/apply-writes'

const DISCARDS = 'a trigger, rule or policy of the table "plants" discards rows'

type ToStep = typeof stepOf

const kindsOf = (batch: readonly Write[]): Set<string> => new Set(batch.map(({ kind }) => kind))

/** The kinds of writes proved by a batch: one wrote something, and the server refused none. */
function provedBy(batch: readonly Write[], outcomes: readonly Outcome[]): Set<string> {
  const isRefused = (it: Outcome | undefined) => !isDone(it) && (it?.error ?? 0) >= 50000
  const made = kindsOf(batch.filter((_, index) => hasWritten(outcomes[index])))
  return made.difference(kindsOf(batch.filter((_, index) => isRefused(outcomes[index]))))
}

/** Returns the function that commits the batches of a store. */
export function createBatches(writer: Writer, refusals: Refusals, role: StoreUser) {
  /** Commits a batch. If the server refuses its data, retries in halves, so that only the write at fault is refused. */
  async function attempt(batch: readonly Write[], toStep: ToStep, onDoubt: () => void) {
    try {
      return await writer.run(toStep(batch), onDoubt)
    } catch (error) {
      if (!isDataError(error)) throw error
      const state = sqlStateOf(error)
      const detail = state === DISCARDED ? DISCARDS : `${state} ${error}`
      if (batch.length === 1) return [{ error: 50001, detail } as const]
      const half = batch.length >> 1
      const first: Attempted = await attempt(batch.slice(0, half), toStep, onDoubt)
      return [...first, ...(await attemptRest(batch.slice(half), toStep, onDoubt))]
    }
  }

  /** Like `attempt`, if others of the batch may be stored already: a failure refuses these writes alone. */
  async function attemptRest(
    batch: readonly Write[],
    toStep: ToStep,
    onDoubt: () => void,
  ): Promise<Attempted> {
    try {
      return await attempt(batch, toStep, onDoubt)
    } catch (thrown) {
      const { error, message } = refusals.refuse(thrown, kindsOf(batch))
      return batch.map(() => ({ error, message }))
    }
  }

  /**
   * Retries creates that were refused although no plant with their id was found. Locking the row decides each of them.
   */
  async function complete(batch: readonly Write[], onDoubt: () => void): Promise<Outcome[]> {
    const outcomes = [...(await attempt(batch, stepOf, onDoubt))]
    const open = [...outcomes.keys()].filter((index) => outcomes[index] === undefined)
    if (open.length > 0) {
      const missing = batch.filter((_, index) => outcomes[index] === undefined)
      const again = await attemptRest(missing, transactionStep, onDoubt)
      for (const [place, index] of open.entries()) outcomes[index] = again[place]
    }
    return outcomes.map((it) => (it === undefined ? { error: 50001 } : it))
  }

  /** Makes a batch durable. In doubt, it promises the outcomes for when the server is found again. */
  return async (batch: readonly Write[]): Promise<Committed> => {
    const started = performance.now()
    const doubt = Promise.withResolvers<null>()
    const onDoubt = () => {
      role.log('warn', 'commit-in-doubt', { changes: batch.length })
      doubt.resolve(null)
    }
    const outcomes = complete(batch, onDoubt).then(
      (it) => {
        observeCommit(role, batch, it, performance.now() - started)
        if (refusals.problem()) refusals.committed(provedBy(batch, it))
        return it
      },
      (error) => {
        throw refusals.refuse(error, kindsOf(batch))
      },
    )
    const first = await Promise.race([outcomes, doubt.promise])
    return first ?? { inDoubt: outcomes }
  }
}
