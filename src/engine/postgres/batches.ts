// Batches of group commit as steps of the writer.

import type { ErrorName } from '../../errors'
import type { Committed } from '../commit/group-commit'
import { hasWritten } from '../commit/kinds'
import { type BatchOutcome, isDone, type Write } from '../commit/write'
import { observeCommit, type StoreUser } from '../store-user'
import { createAttempts, kindsOf } from './attempts'
import type { Refusals } from './connecting/refusals'
import type { Writer } from './lane/writer'
import type { LockedRows } from './locked-rows'
import { stepOf, stepOfFreeRows, transactionStep } from './sql/apply-writes'

// Errors of the server, not of a write.
const OF_SERVER: ReadonlySet<ErrorName> = new Set([
  'unexpected',
  'busy',
  'cannot write',
  'disk full',
])

/** The kinds of writes proved by a batch: one wrote something, and the server refused none. */
function provedBy(batch: readonly Write[], outcomes: readonly BatchOutcome[]): Set<string> {
  const isRefused = (it: BatchOutcome | undefined) =>
    typeof it === 'object' && !isDone(it) && OF_SERVER.has(it.error)
  const made = kindsOf(batch.filter((write, index) => hasWritten(write, outcomes[index])))
  return made.difference(kindsOf(batch.filter((_, index) => isRefused(outcomes[index]))))
}

/** Returns the function that commits the batches of a store. */
export function createBatches(
  writer: Writer,
  refusals: Refusals,
  storeUser: StoreUser,
  lockedRows: LockedRows,
  requireSafe: () => Promise<void>,
) {
  const { attempt, attemptRest } = createAttempts(writer, refusals)

  /**
   * Retries creates that were refused although no plant with their id was found. Locking the row decides each of them.
   */
  async function complete(batch: readonly Write[], onDoubt: () => void): Promise<BatchOutcome[]> {
    const outcomes = [...(await attempt(batch, stepOf, onDoubt))]
    const open = [...outcomes.keys()].filter((index) => outcomes[index] === undefined)
    if (open.length > 0) {
      const missing = batch.filter((_, index) => outcomes[index] === undefined)
      const again = await attemptRest(missing, transactionStep, onDoubt)
      for (const [place, index] of open.entries()) outcomes[index] = again[place]
    }
    return outcomes.map((it) => (it === undefined ? { error: 'unexpected' } : it))
  }

  /** Commits a batch. Writes of locked rows are tried after the others, now and then, and postponed. */
  async function commitAll(batch: readonly Write[], onDoubt: () => void): Promise<BatchOutcome[]> {
    const states = batch.map((write) => lockedRows.stateOf(write))
    const free = batch.filter((_, index) => states[index] === 'free')
    const due = batch.filter((_, index) => states[index] === 'due')
    const tried = [
      ...(free.length > 0 ? await complete(free, onDoubt) : []),
      ...(due.length > 0 ? await attemptRest(due, stepOfFreeRows, onDoubt) : []),
    ]
    const outcomes = new Map([...free, ...due].map((write, index) => [write, tried[index]]))
    return batch.map((write) => lockedRows.settle(write, outcomes.get(write)))
  }

  /** Makes a batch durable. In doubt, it promises the outcomes for when the server is found again. */
  return async (batch: readonly Write[]): Promise<Committed> => {
    const started = performance.now()
    const doubt = Promise.withResolvers<null>()
    const onDoubt = () => {
      storeUser.log('warn', 'commit-in-doubt', { changes: batch.length })
      doubt.resolve(null)
    }
    await requireSafe()
    const outcomes = commitAll(batch, onDoubt).then(
      (it) => {
        observeCommit(storeUser, batch, it, performance.now() - started)
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
