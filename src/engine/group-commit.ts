// Group commit: changes that wait together share one commit. It knows no database.

import { PlantError } from '../errors'
import { isDone, type Outcome } from './change'
import { ReturnRate } from './return-rate'
import type { Row } from './row'

/** The outcomes of a batch, one for each change; or, after a commit in doubt, a promise of them. */
export type Committed = readonly Outcome[] | { readonly inDoubt: Promise<readonly Outcome[]> }

/** Makes a batch durable, in order. Rejects if nothing of it was stored. */
export type Commit<Change> = (batch: Change[]) => Promise<Committed>

export type GroupCommitLimits = {
  /** Changes that may wait at the same time. */
  readonly queuedChanges: number
  /** Bytes that the waiting changes may have together, as given to `submit`. */
  readonly queuedBytes: number
  /** Changes that share a commit. */
  readonly batchChanges: number
}

type Waiting<Change> = {
  readonly change: Change
  readonly bytes: number
  readonly signal: AbortSignal | undefined
  readonly resolve: (row: Row | null) => void
  readonly reject: (reason: unknown) => void
}

// After a commit of less than twice this, no hold is worth it.
const SHORTEST_HOLD_MS = 0.4
// A timer is no finer than this.
const TIMER_MS = 1
// A commit that stalled says nothing about the next.
const LONGEST_HOLD_MS = 250

function answer(batch: readonly Waiting<unknown>[], outcomes: readonly Outcome[]): void {
  for (const [index, { resolve, reject }] of batch.entries()) {
    const outcome = outcomes[index]
    if (isDone(outcome)) resolve(outcome?.row ?? null)
    else reject(outcome ? new PlantError(outcome.error, outcome.message) : new PlantError(50001))
  }
}

function refuse(batch: readonly Waiting<unknown>[], reason: unknown): void {
  for (const { reject } of batch) reject(reason)
}

function isWanted({ signal, reject }: Waiting<unknown>): boolean {
  if (!signal?.aborted) return true
  reject(new PlantError(50301, 'the client has gone'))
  return false
}

/**
 * While a batch commits, the changes that arrive wait for the next one, which starts before the clients of the last
 * are answered. Those clients are likely to come back: unless the disk is fast, the next batch is held for as many changes
 * as the last round had, for at most half a commit's time or a millisecond. Without that, two half batches would take
 * turns.
 */
export class GroupCommit<Change> {
  #waiting: Waiting<Change>[] = []
  #waitingBytes = 0
  /** 'gathering': a batch is about to be taken; 'committing': one is in progress. */
  #state: 'idle' | 'gathering' | 'committing' = 'idle'
  /** How many changes the next batch may be held for, and until when. */
  #expected = 0
  #holdUntil = 0
  #hold: Timer | undefined
  readonly #returns = new ReturnRate()
  #drained: (() => void)[] = []

  constructor(
    private readonly commit: Commit<Change>,
    private readonly limits: GroupCommitLimits,
  ) {}

  /** How many changes wait. */
  get queued(): number {
    return this.#waiting.length
  }

  /**
   * Resolves when the change is durable. Rejects with 50301, and nothing is stored, if the queue is full or the signal
   * was aborted before the commit.
   */
  submit(change: Change, bytes: number, signal?: AbortSignal): Promise<void> {
    const { promise, resolve, reject } = Promise.withResolvers<void>()
    const done: () => void = resolve
    this.#enqueue({ change, bytes, signal, resolve: done, reject })
    return promise
  }

  /** Like {@link submit}, for a change that leaves a row: resolves to it. */
  async submitForRow(change: Change, bytes: number, signal?: AbortSignal): Promise<Row> {
    const { promise, resolve, reject } = Promise.withResolvers<Row | null>()
    this.#enqueue({ change, bytes, signal, resolve, reject })
    const row = await promise
    if (!row) throw new PlantError(50001)
    return row
  }

  /** Resolves when nothing waits and nothing is being committed. */
  drained(): Promise<void> {
    if (this.#state === 'idle') return Promise.resolve()
    return new Promise((resolve) => this.#drained.push(resolve))
  }

  #enqueue(waiting: Waiting<Change>): void {
    const { queuedChanges, queuedBytes } = this.limits
    const { bytes, reject } = waiting
    const isFull =
      this.#waiting.length >= queuedChanges ||
      (this.#waitingBytes + bytes > queuedBytes && this.#waiting.length > 0)
    if (isFull) {
      reject(new PlantError(50301))
      return
    }
    this.#waiting.push(waiting)
    this.#waitingBytes += bytes
    this.#returns.arrive()
    if (this.#state === 'idle') {
      if (!this.#isHeld()) this.#flushAfterTurn()
    } else if (this.#hold) {
      if (this.#waiting.length >= this.#expected) this.#endHold()
    }
  }

  // Waits for the next changes of the clients just answered; false if that is not worth it.
  #isHeld(): boolean {
    const missing = this.#expected - this.#waiting.length
    if (missing <= 0) return false
    const hold = this.#holdUntil - performance.now()
    if (hold < SHORTEST_HOLD_MS) return false
    // Such a hold ends late, unless all come back.
    if (hold < TIMER_MS && hold < this.#returns.timeFor(missing)) return false
    this.#state = 'gathering'
    this.#hold = setTimeout(() => this.#endHold(), hold)
    return true
  }

  #endHold(): void {
    clearTimeout(this.#hold)
    this.#hold = undefined
    this.#flushAfterTurn()
  }

  // After this turn of the event loop, so that the batch has all changes that it reads.
  #flushAfterTurn(): void {
    this.#state = 'gathering'
    setImmediate(() => this.#flush())
  }

  #takeBatch(): Waiting<Change>[] {
    const batch = this.#waiting.splice(0, this.limits.batchChanges)
    this.#waitingBytes = this.#waiting.reduce((sum, { bytes }) => sum + bytes, 0)
    return batch.filter(isWanted)
  }

  async #flush(): Promise<void> {
    this.#state = 'committing'
    const batch = this.#takeBatch()
    const started = performance.now()
    const [result] = await Promise.allSettled([
      batch.length > 0 ? this.commit(batch.map(({ change }) => change)) : [],
    ])
    this.#ended(batch.length, performance.now() - started)
    if (result.status === 'rejected') refuse(batch, result.reason)
    else if ('inDoubt' in result.value) {
      result.value.inDoubt.then(
        (outcomes) => answer(batch, outcomes),
        (reason) => refuse(batch, reason),
      )
    } else answer(batch, result.value)
  }

  #ended(changes: number, milliseconds: number): void {
    this.#expected = changes + this.#waiting.length
    this.#returns.answer(changes)
    this.#holdUntil = performance.now() + Math.min(milliseconds / 2, LONGEST_HOLD_MS)
    this.#state = 'idle'
    if (this.#waiting.length > 0) {
      if (!this.#isHeld()) this.#flush()
    } else for (const resolve of this.#drained.splice(0)) resolve()
  }
}
