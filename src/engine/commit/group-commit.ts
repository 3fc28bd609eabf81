// Group commit: writes that wait together share one commit. It knows no database. Phases:
// - idle: nothing waits.
// - gathering: a write has arrived. First the batch is held, on a slow disk, for the clients that were just answered; then
//   turns of the event loop are counted until no more writes arrive.
// - committing: the batch is on its way to the disk, and what arrives meanwhile waits for the next one. At its end the clients
//   are answered.

import { ApiError } from '../../errors'
import type { PutCounts } from '../../plant/plants'
import type { PlantRow } from '../../plant/row'
import { type Done, isDone, type Outcome, putCounts } from './write'

/** The outcomes of a batch, one for each change; or, after a commit in doubt, a promise of them. */
export type Committed = readonly Outcome[] | { readonly inDoubt: Promise<readonly Outcome[]> }

/** Makes a batch durable, in order. Rejects if nothing of it was stored. */
export type Commit<Write> = (batch: Write[]) => Promise<Committed>

export type GroupCommitLimits = {
  /** Writes that may wait at the same time. */
  readonly queuedWrites: number
  /** Bytes that the waiting writes may have together, as given to `submit`. */
  readonly queuedBytes: number
  /** Writes that share a commit. */
  readonly batchWrites: number
}

/** Time as group commit sees it. */
export type Clock = {
  /** Milliseconds of a clock that never goes back. */
  now(): number
  /** Calls `act` after so many milliseconds. Returns a function that cancels it. */
  after(milliseconds: number, act: () => void): () => void
}

const monotonic: Clock = {
  now: () => performance.now(),
  after(milliseconds, act) {
    const timer = setTimeout(act, milliseconds)
    return () => clearTimeout(timer)
  },
}

type Waiting<Write> = {
  readonly write: Write
  readonly bytes: number
  readonly signal: AbortSignal | undefined
  readonly resolve: (done: Done) => void
  readonly reject: (reason: unknown) => void
}

// The longest hold: a commit that stalled says nothing about the next.
const MAX_HOLD_MS = 250
// The finest timer. For less, turns of the event loop are counted.
const TIMER_MS = 1
// Clients on the same machine come back within so many turns of an idle event loop.
const QUIET_TURNS = 20
// Each half of a round costs a commit of its own, which must pay.
const SMALLEST_SPLIT = 32
// Clients that come back later than this had nothing to send: the time says nothing about serving.
const PAUSE_MS = 50

function answer(batch: readonly Waiting<unknown>[], outcomes: readonly Outcome[]): void {
  for (const [index, { resolve, reject }] of batch.entries()) {
    const outcome = outcomes[index]
    if (isDone(outcome)) resolve(outcome)
    else reject(outcome ? new ApiError(outcome.error, outcome.message) : new ApiError(50001))
  }
}

function refuse(batch: readonly Waiting<unknown>[], reason: unknown): void {
  for (const { reject } of batch) reject(reason)
}

function isWanted({ signal, reject }: Waiting<unknown>): boolean {
  if (!signal?.aborted) return true
  reject(new ApiError(50301, 'the client has gone'))
  return false
}

/**
 * While a batch commits, the writes that arrive wait for the next one. The clients of the last are likely to come back, so
 * a round has as many writes as were committed last and wait now.
 *
 * If a commit takes longer than to answer and read a round, the next batch is gathered until it has the whole round. That
 * ends when the event loop finds no more writes, and after a millisecond at most; on a slow disk after half of the last
 * commit's time. Otherwise two halves of the round take turns: one commits while the other is answered and read.
 */
export class GroupCommit<Write> {
  #waiting: Waiting<Write>[] = []
  #waitingBytes = 0
  /** 'gathering': a batch is about to be taken; 'committing': one is in progress. */
  #state: 'idle' | 'gathering' | 'committing' = 'idle'
  /** How many writes the next batch shall have, at least and at most, and until when it is held for the least. */
  #least = 0
  #most: number
  #holdUntil = 0
  /** When the last batch was answered, and when a write last arrived. */
  #answeredAt = Number.NEGATIVE_INFINITY
  #arrivedAt = 0
  /** Milliseconds until the clients just answered were back, for each of them. */
  #serving = 0
  /** Cancels the timer of a batch that is held. */
  #cancelHold: (() => void) | undefined
  #drained: (() => void)[] = []

  constructor(
    private readonly commit: Commit<Write>,
    private readonly limits: GroupCommitLimits,
    private readonly clock: Clock = monotonic,
  ) {
    this.#most = limits.batchWrites
  }

  /** How many writes wait. */
  get queued(): number {
    return this.#waiting.length
  }

  /**
   * Resolves when the write is durable. Rejects with 50301, and nothing is stored, if the queue is full or the signal
   * was aborted before the commit.
   */
  submit(write: Write, bytes: number, signal?: AbortSignal): Promise<void> {
    const { promise, resolve, reject } = Promise.withResolvers<void>()
    const done: () => void = resolve
    this.#enqueue({ write, bytes, signal, resolve: done, reject })
    return promise
  }

  /** Like {@link submit}, for a write that leaves a row: resolves to it. */
  async submitForRow(write: Write, bytes: number, signal?: AbortSignal): Promise<PlantRow> {
    const done = await this.#done(write, bytes, signal)
    if (!done || !('row' in done)) throw new ApiError(50001)
    return done.row
  }

  /** Like {@link submit}, for a batch of puts: resolves to its counts. */
  async submitForCounts(write: Write, bytes: number, signal?: AbortSignal): Promise<PutCounts> {
    const counts = putCounts(await this.#done(write, bytes, signal))
    if (!counts) throw new ApiError(50001)
    return counts
  }

  /** Resolves when nothing waits and nothing is being committed. */
  drained(): Promise<void> {
    if (this.#state === 'idle') return Promise.resolve()
    return new Promise((resolve) => this.#drained.push(resolve))
  }

  #done(write: Write, bytes: number, signal: AbortSignal | undefined): Promise<Done> {
    const { promise, resolve, reject } = Promise.withResolvers<Done>()
    this.#enqueue({ write, bytes, signal, resolve, reject })
    return promise
  }

  #enqueue(waiting: Waiting<Write>): void {
    const { queuedWrites, queuedBytes } = this.limits
    const { bytes, reject } = waiting
    const isFull =
      this.#waiting.length >= queuedWrites ||
      (this.#waitingBytes + bytes > queuedBytes && this.#waiting.length > 0)
    if (isFull) {
      reject(new ApiError(50301))
      return
    }
    this.#waiting.push(waiting)
    this.#waitingBytes += bytes
    this.#arrivedAt = this.clock.now()
    if (this.#state === 'idle') this.#gather()
    else if (this.#cancelHold && this.#isWhole()) this.#endHold()
  }

  // True if the next batch has as many writes as can be expected of it.
  #isWhole(): boolean {
    return this.#waiting.length >= Math.min(this.#least, this.#most)
  }

  #gather(): void {
    this.#state = 'gathering'
    const hold = this.#holdUntil - this.clock.now()
    if (hold >= TIMER_MS && !this.#isWhole()) {
      this.#cancelHold = this.clock.after(hold, () => this.#endHold())
    } else this.#gatherInTurns()
  }

  #endHold(): void {
    this.#cancelHold?.()
    this.#cancelHold = undefined
    this.#gatherInTurns()
  }

  #gatherInTurns(): void {
    const end = this.clock.now() + TIMER_MS
    let gathered = this.#waiting.length
    let quietTurns = 0
    const look = () => {
      const { length } = this.#waiting
      quietTurns = length > gathered ? 0 : quietTurns + 1
      gathered = length
      const isOver = quietTurns > QUIET_TURNS || this.clock.now() > end
      if (isOver || this.#isWhole()) this.#flush()
      else setImmediate(look)
    }
    // After this turn, so that the batch has all writes that it reads.
    setImmediate(look)
  }

  #takeBatch(): Waiting<Write>[] {
    const batch = this.#waiting.splice(0, this.#most)
    this.#waitingBytes = this.#waiting.reduce((sum, { bytes }) => sum + bytes, 0)
    return batch.filter(isWanted)
  }

  async #flush(): Promise<void> {
    this.#state = 'committing'
    const returned = this.#arrivedAt - this.#answeredAt
    this.#serving = returned > PAUSE_MS ? 0 : returned / this.#waiting.length
    const batch = this.#takeBatch()
    const started = this.clock.now()
    const [result] = await Promise.allSettled([
      batch.length > 0 ? this.commit(batch.map(({ write }) => write)) : [],
    ])
    const now = this.clock.now()
    this.#ended(batch.length, now, now - started)
    this.#answeredAt = now
    if (result.status === 'rejected') refuse(batch, result.reason)
    else if ('inDoubt' in result.value) {
      result.value.inDoubt.then(
        (outcomes) => answer(batch, outcomes),
        (reason) => refuse(batch, reason),
      )
    } else answer(batch, result.value)
  }

  #ended(writes: number, now: number, milliseconds: number): void {
    const { batchWrites } = this.limits
    const round = writes + this.#waiting.length
    // Committing a half takes little less than committing the whole.
    const takesTurns = round >= SMALLEST_SPLIT && round * this.#serving > 1.5 * milliseconds
    // Of those just answered, some are on their way: fewer than half may wait.
    this.#least = takesTurns ? round / 4 : round
    this.#most = takesTurns ? Math.min(Math.ceil(round / 2), batchWrites) : batchWrites
    this.#holdUntil = now + Math.min(milliseconds / 2, MAX_HOLD_MS)
    this.#state = 'idle'
    if (this.#waiting.length === 0) for (const resolve of this.#drained.splice(0)) resolve()
    else if (this.#isWhole()) this.#flush()
    else this.#gather()
  }
}
