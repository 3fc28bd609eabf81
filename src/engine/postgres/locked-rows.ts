// Remembers plants whose rows another session keeps locked. Their writes are refused untried for a while, because each
// attempt delays all other writes.

import type { Log } from '../../log'
import type { RowId } from '../../plant/row'
import { idsOf, isPlantWrite } from '../commit/kinds'
import type { Outcome, Write } from '../commit/write'
import { LOCKED } from './sql/apply-writes'

const REFUSED_MS = 500
// A row that no write has found locked for this long counts as free.
const KEPT_MS = 10_000
const LOGGED_EVERY_MS = 60_000

const rowsOf = (write: Write): readonly RowId[] => (isPlantWrite(write) ? idsOf(write) : [])

export class LockedRows {
  /** The time at which each row was last found locked; the newest is last. */
  readonly #foundAt = new Map<RowId, number>()
  #loggedAt = Number.NEGATIVE_INFINITY

  constructor(private readonly log: Log) {}

  /** 'locked': a row of the write was locked just now. 'due': one was locked some time ago; try again. */
  stateOf(write: Write): 'free' | 'locked' | 'due' {
    if (this.#foundAt.size === 0) return 'free'
    const times = rowsOf(write).flatMap((id) => this.#foundAt.get(id) ?? [])
    const age = performance.now() - Math.max(...times)
    if (age < REFUSED_MS) return 'locked'
    return age < KEPT_MS ? 'due' : 'free'
  }

  /** Notes the outcomes of attempted writes. */
  noteOutcomes(writes: readonly Write[], outcomes: readonly Outcome[]): void {
    if (this.#foundAt.size === 0 && !outcomes.includes(LOCKED)) return
    for (const [index, write] of writes.entries()) {
      if (outcomes[index] === LOCKED) this.#noteLocked(rowsOf(write))
      else for (const id of rowsOf(write)) this.#foundAt.delete(id)
    }
  }

  #noteLocked(ids: readonly RowId[]): void {
    const now = performance.now()
    for (const [id, foundAt] of this.#foundAt) {
      if (foundAt > now - KEPT_MS) break
      this.#foundAt.delete(id)
    }
    for (const id of ids) {
      this.#foundAt.delete(id)
      this.#foundAt.set(id, now)
    }
    if (now < this.#loggedAt + LOGGED_EVERY_MS) return
    this.#loggedAt = now
    this.log('warn', 'plant-locked', { id: String(ids[0]) })
  }
}
