// Batches of group commit as steps of the writer.

import { type Change, isDone, type Outcome } from '../change'
import type { Committed } from '../group-commit'
import { observeCommit, type Role } from '../role'
import { type Attempted, stepOf, transactionStep } from './apply-changes'
import { DISCARDED, isDataError, sqlStateOf } from './errors'
import type { Refusals } from './refusals'
import type { Writer } from './writer'

const DISCARDS = 'a trigger, rule or policy of the table "plants" discards rows'

type ToStep = typeof stepOf

const kindsOf = (changes: readonly Change[]): Set<string> => new Set(changes.map(([kind]) => kind))

/** The kinds of changes that a batch has shown to work: one was made, and the server refused none. */
function provedBy(changes: readonly Change[], outcomes: readonly Outcome[]): Set<string> {
  const isRefused = (it: Outcome | undefined) => !isDone(it) && (it?.error ?? 0) >= 50000
  const made = kindsOf(changes.filter((_, index) => isDone(outcomes[index])))
  return made.difference(kindsOf(changes.filter((_, index) => isRefused(outcomes[index]))))
}

/** Returns the function that commits the batches of a store. */
export function createBatches(writer: Writer, refusals: Refusals, role: Role) {
  /** Makes a batch. If the server refuses data of it, its halves are tried, so that only the change at fault is refused. */
  async function attempt(changes: readonly Change[], toStep: ToStep, onDoubt: () => void) {
    try {
      return await writer.run(toStep(changes), onDoubt)
    } catch (error) {
      if (!isDataError(error)) throw error
      const state = sqlStateOf(error)
      const detail = state === DISCARDED ? DISCARDS : `${state} ${error}`
      if (changes.length === 1) return [{ error: 50001, detail } as const]
      const half = changes.length >> 1
      const first: Attempted = await attempt(changes.slice(0, half), toStep, onDoubt)
      return [...first, ...(await attemptRest(changes.slice(half), toStep, onDoubt))]
    }
  }

  /** The same when others of the batch may be stored already: a failure refuses these changes alone. */
  async function attemptRest(
    changes: readonly Change[],
    toStep: ToStep,
    onDoubt: () => void,
  ): Promise<Attempted> {
    try {
      return await attempt(changes, toStep, onDoubt)
    } catch (thrown) {
      const { error, message } = refusals.refuse(thrown, kindsOf(changes))
      return changes.map(() => ({ error, message }))
    }
  }

  /** A create that was refused although no plant with its id was found is made again with its row locked, which always decides it. */
  async function complete(changes: readonly Change[], onDoubt: () => void): Promise<Outcome[]> {
    const outcomes = [...(await attempt(changes, stepOf, onDoubt))]
    const open = [...outcomes.keys()].filter((index) => outcomes[index] === undefined)
    if (open.length > 0) {
      const missing = changes.filter((_, index) => outcomes[index] === undefined)
      const again = await attemptRest(missing, transactionStep, onDoubt)
      for (const [place, index] of open.entries()) outcomes[index] = again[place]
    }
    return outcomes.map((it) => (it === undefined ? { error: 50001 } : it))
  }

  /** Makes a batch durable. If it is in doubt, its outcomes are promised for when the server is found again. */
  return async (changes: readonly Change[]): Promise<Committed> => {
    const started = performance.now()
    const doubt = Promise.withResolvers<null>()
    const onDoubt = () => {
      role.log('warn', 'commit-in-doubt', { changes: changes.length })
      doubt.resolve(null)
    }
    const outcomes = complete(changes, onDoubt).then(
      (it) => {
        observeCommit(role, changes, it, performance.now() - started)
        if (refusals.problem()) refusals.committed(provedBy(changes, it))
        return it
      },
      (error) => {
        throw refusals.refuse(error, kindsOf(changes))
      },
    )
    const first = await Promise.race([outcomes, doubt.promise])
    return first ?? { inDoubt: outcomes }
  }
}
