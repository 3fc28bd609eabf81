// Batches of group commit as steps of the writer.

import type { PlantError } from '../../errors'
import { type Change, isDone, isRequested, type Outcome } from '../change'
import type { Committed } from '../group-commit'
import type { Role } from '../role'
import { type Attempted, stepOf } from './apply-changes'
import { sqlStateOf } from './errors'
import type { Sessions } from './sessions'
import type { Writer } from './writer'

// A full disk refuses each change: the log says so from time to time.
const FULL_LOGGED_EVERY_MS = 60_000
// While nobody tries a change again, the disk counts as full for so long.
const FULL_MS = 10_000
// A value that the server cannot keep: the fault of one change, not of those beside it.
const STATEMENT_ERROR = /^(22|23|54)/

/** Returns what commits the batches of a store, and whether the disk of the server was full for the last of them. */
export function createBatches(writer: Writer, sessions: Sessions, role: Role) {
  let fullAt = Number.NEGATIVE_INFINITY
  let fullLoggedAt = Number.NEGATIVE_INFINITY

  async function attempt(changes: readonly Change[], onDoubt: () => void): Promise<Attempted> {
    try {
      return await writer.run(stepOf(changes), onDoubt)
    } catch (error) {
      const state = sqlStateOf(error)
      if (!STATEMENT_ERROR.test(state)) throw error
      if (changes.length === 1) return [{ error: 50001, detail: `${state} ${error}` }]
      const half = changes.length >> 1
      const first = await attempt(changes.slice(0, half), onDoubt)
      return [...first, ...(await attemptMore(changes.slice(half), onDoubt))]
    }
  }

  /** The same, where others of the batch may be stored by now: what fails is refused alone. */
  async function attemptMore(changes: readonly Change[], onDoubt: () => void): Promise<Attempted> {
    try {
      return await attempt(changes, onDoubt)
    } catch (error) {
      const { error: number, message } = fail(error)
      return changes.map(() => ({ error: number, message }))
    }
  }

  /** A create that was refused, and whose plant was gone when that was looked at, is tried again. */
  async function complete(changes: readonly Change[], onDoubt: () => void): Promise<Outcome[]> {
    const outcomes = [...(await attempt(changes, onDoubt))]
    for (;;) {
      const open = [...outcomes.keys()].filter((index) => outcomes[index] === undefined)
      if (open.length === 0) return outcomes.map((it) => it ?? null)
      const missing = changes.filter((_, index) => outcomes[index] === undefined)
      const again = await attemptMore(missing, onDoubt)
      for (const [place, index] of open.entries()) outcomes[index] = again[place]
    }
  }

  function observe(changes: readonly Change[], outcomes: readonly Outcome[], milliseconds: number) {
    let changed = 0
    for (const [index, change] of changes.entries()) {
      const outcome = outcomes[index]
      if (outcome && 'detail' in outcome) {
        role.log('error', 'unexpected', { detail: outcome.detail })
      }
      if (isDone(outcome) && isRequested(change)) changed += 1
    }
    if (changed === 0) return
    fullAt = Number.NEGATIVE_INFINITY
    role.onCommit(changed, milliseconds)
  }

  function fail(error: unknown): PlantError {
    const refusal = sessions.refuse(error)
    if (refusal.error === 50701) fullAt = performance.now()
    if (refusal.error === 50701 && performance.now() >= fullLoggedAt + FULL_LOGGED_EVERY_MS) {
      fullLoggedAt = performance.now()
      role.log('error', 'disk-full', { detail: String(error) })
    }
    return refusal
  }

  /** Makes a batch durable. Where it is in doubt, its outcomes are promised for when the server is found again. */
  async function commit(changes: readonly Change[]): Promise<Committed> {
    const started = performance.now()
    const doubt = Promise.withResolvers<null>()
    const outcomes = complete(changes, () => doubt.resolve(null)).then(
      (it) => {
        observe(changes, it, performance.now() - started)
        return it
      },
      (error) => {
        throw fail(error)
      },
    )
    const first = await Promise.race([outcomes, doubt.promise])
    return first ?? { inDoubt: outcomes }
  }
  return { commit, isFull: (): boolean => performance.now() < fullAt + FULL_MS }
}
