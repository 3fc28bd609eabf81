// The rows of plants that another session has locked for longer than a commit. Their writes wait apart, and others go
// on.

import type { Log } from '../../log'
import type { RowId } from '../../plant/row'
import { POSTPONED_MS } from '../commit/group-commit'
import { idsOf, isPlantWrite } from '../commit/kinds'
import { type BatchOutcome, POSTPONED, type Write } from '../commit/write'
import { LOCK_MS } from './connecting/settings'

// A row that no write has met for this long counts as free.
const KEPT_MS = 10_000
const LOGGED_EVERY_MS = 60_000

const rowsOf = (write: Write): readonly RowId[] => (isPlantWrite(write) ? idsOf(write) : [])

export class LockedRows {
  /** The waits of all postponed writes, added up. */
  readonly counts = { postponedMs: 0 }
  /** The time at which each row was last found locked. */
  readonly #foundAt = new Map<RowId, number>()
  /** The time at which each postponed write first met a locked row; made with the first of them. */
  #metAt: WeakMap<Write, number> | undefined
  #loggedAt = Number.NEGATIVE_INFINITY

  constructor(private readonly log: Log) {}

  /** 'locked': a row of the write was just found locked. 'due': one was found locked some time ago; try again. */
  stateOf(write: Write): 'free' | 'locked' | 'due' {
    if (this.#foundAt.size === 0) return 'free'
    const times = rowsOf(write).flatMap((id) => this.#foundAt.get(id) ?? [])
    const age = performance.now() - Math.max(...times)
    if (age < POSTPONED_MS / 2) return 'locked'
    return age < KEPT_MS ? 'due' : 'free'
  }

  /** Notes the outcome of a write, undefined if it was not tried, and refuses one that was postponed for too long. */
  settle(write: Write, outcome: BatchOutcome | undefined): BatchOutcome {
    if (outcome === POSTPONED) this.#found(write)
    else if (outcome) {
      if (this.#foundAt.size > 0) this.#freed(write)
      this.#countWait(write)
      return outcome
    }
    const now = performance.now()
    this.#metAt ??= new WeakMap()
    const metAt = this.#metAt.getOrInsert(write, now)
    if (now - metAt < LOCK_MS) return POSTPONED
    this.#countWait(write)
    if (now >= this.#loggedAt + LOGGED_EVERY_MS) {
      this.#loggedAt = now
      this.log('warn', 'plant-locked', { id: String(rowsOf(write)[0]) })
    }
    return { error: 'busy' }
  }

  #found(write: Write): void {
    const now = performance.now()
    for (const [id, at] of this.#foundAt) {
      if (at > now - KEPT_MS) break
      this.#foundAt.delete(id)
    }
    for (const id of rowsOf(write)) {
      // The newest is last.
      this.#foundAt.delete(id)
      this.#foundAt.set(id, now)
    }
  }

  #countWait(write: Write): void {
    const metAt = this.#metAt?.get(write)
    if (metAt !== undefined) this.counts.postponedMs += performance.now() - metAt
  }

  #freed(write: Write): void {
    for (const id of rowsOf(write)) this.#foundAt.delete(id)
  }
}
