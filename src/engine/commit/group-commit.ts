// Group commit: writes that wait together share one commit. Knows no database. Phases:
// - idle: the queue is empty.
// - gathering: a write has arrived. A slow disk holds the batch for the clients just answered; then event loop turns
//   are counted until no more writes arrive.
// - committing: the batch is being written; new writes wait for the next one. At the end the clients are answered.

import { clientGone, RequestError } from '../../request-errors'
import { isDone, type Outcome, type Report, type ReportOf } from './write'

/** The outcomes of a batch, one per change; or a promise of them, after a commit in doubt. */
export type CommitResult = readonly Outcome[] | { readonly inDoubt: Promise<readonly Outcome[]> }

/** Makes a batch durable, in order. Rejects if nothing was stored. */
export type Commit<Write> = (batch: Write[]) => Promise<CommitResult>

export type GroupCommitLimits = {
  /** Maximum number of queued writes. */
  readonly queuedWrites: number
  /** Maximum size of the queued writes in bytes, as passed to `submit`. */
  readonly queuedBytes: number
  /** Maximum number of writes per commit. */
  readonly batchWrites: number
}

/** The clock of group commit; tests replace it. */
export type Clock = {
  /** Monotonic time in milliseconds. */
  now(): number
  /** Calls `callback` after this many milliseconds. Returns a function that cancels it. */
  after(milliseconds: number, callback: () => void): () => void
}

const MONOTONIC_CLOCK: Clock = {
  now: () => performance.now(),
  after(milliseconds, callback) {
    const timer = setTimeout(callback, milliseconds)
    return () => clearTimeout(timer)
  },
}

type QueuedWrite<Write> = {
  readonly write: Write
  readonly bytes: number
  readonly signal: AbortSignal | undefined
  readonly resolve: (report: Report) => void
  readonly reject: (reason: unknown) => void
}

// The longest hold. A stalled commit says nothing about the duration of the next.
const MAX_HOLD_MS = 250
// The resolution of timers. Shorter waits count turns of the event loop.
const TIMER_MS = 1
// Local clients send their next write within this many turns of an idle event loop.
const QUIET_TURNS = 20
// Splitting a round costs an extra commit; smaller rounds are not worth it.
const SMALLEST_SPLIT = 32
// Clients that return later than this were idle; their delay is not counted as serving time.
const PAUSE_MS = 50

function answer(batch: readonly QueuedWrite<unknown>[], outcomes: readonly Outcome[]): void {
  for (const [index, { resolve, reject }] of batch.entries()) {
    const outcome = outcomes[index]
    if (isDone(outcome)) resolve(outcome)
    else if (outcome === undefined) reject(new RequestError('unexpected'))
    else reject(new RequestError(outcome.error, outcome.message))
  }
}

const bytesOf = (writes: readonly QueuedWrite<unknown>[]): number =>
  writes.reduce((sum, { bytes }) => sum + bytes, 0)

function refuse(batch: readonly QueuedWrite<unknown>[], reason: unknown): void {
  for (const { reject } of batch) reject(reason)
}

/** True if a client still waits for a write; otherwise the write is refused. */
function isWanted({ signal, reject }: QueuedWrite<unknown>): boolean {
  if (!signal?.aborted) return true
  reject(clientGone())
  return false
}

/**
 * Writes that arrive during a commit wait for the next one. Most clients of the last batch send another write soon, so
 * a round is expected to be the last batch plus the queue. If a commit takes longer than answering and reading a round,
 * the next batch waits for the whole round: until the event loop finds no more writes, for at most a millisecond, or
 * half of the last commit on a slow disk. Otherwise two halves of the round alternate: one commits while the other is
 * answered and read.
 */
export class GroupCommit<Write> {
  #queue: QueuedWrite<Write>[] = []
  #queueBytes = 0
  /** 'gathering': a batch is about to be committed; 'committing': a commit is in progress. */
  #state: 'idle' | 'gathering' | 'committing' = 'idle'
  /** Minimum and maximum size of the next batch, and the end of the wait for the minimum. */
  #minBatch = 0
  #maxBatch: number
  #holdUntil = 0
  /** Times of the last answer and of the last arrival. */
  #answeredAt = Number.NEGATIVE_INFINITY
  #arrivedAt = 0
  /** Milliseconds per client between an answer and its next write. */
  #servingMs = 0
  /** Cancels the timer of a held batch. */
  #cancelHold: (() => void) | undefined
  #idleWaiters: (() => void)[] = []

  constructor(
    private readonly commit: Commit<Write>,
    private readonly limits: GroupCommitLimits,
    private readonly clock: Clock = MONOTONIC_CLOCK,
  ) {
    this.#maxBatch = limits.batchWrites
  }

  /** Number of queued writes. */
  get queueLength(): number {
    return this.#queue.length
  }

  /**
   * Resolves to the report of the write when it is durable. Rejects with `busy`, and stores nothing, if the queue is
   * full or the signal is aborted before the commit.
   */
  submit<W extends Write>(write: W, bytes: number, signal?: AbortSignal): Promise<ReportOf<W>> {
    const { promise, resolve, reject } = Promise.withResolvers<Report>()
    this.#enqueue({ write, bytes, signal, resolve, reject })
    // Each kind of write is answered with its own report.
    return promise as Promise<ReportOf<W>>
  }

  /** Resolves when the queue is empty and no commit is in progress. */
  whenIdle(): Promise<void> {
    if (this.#state === 'idle') return Promise.resolve()
    return new Promise((resolve) => this.#idleWaiters.push(resolve))
  }

  #enqueue(queuedWrite: QueuedWrite<Write>): void {
    const { queuedWrites, queuedBytes } = this.limits
    const { bytes, reject } = queuedWrite
    const isFull =
      this.queueLength >= queuedWrites ||
      (this.#queueBytes + bytes > queuedBytes && this.queueLength > 0)
    if (isFull) {
      reject(new RequestError('busy'))
      return
    }
    this.#queue.push(queuedWrite)
    this.#queueBytes += bytes
    this.#arrivedAt = this.clock.now()
    if (this.#state === 'idle') this.#gather()
    else if (this.#cancelHold && this.#isWhole()) this.#endHold()
  }

  // True if the next batch is as large as can be expected.
  #isWhole(): boolean {
    return this.#queue.length >= Math.min(this.#minBatch, this.#maxBatch)
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
    let lastLength = this.#queue.length
    let quietTurns = 0
    const checkQueue = () => {
      const { length } = this.#queue
      quietTurns = length > lastLength ? 0 : quietTurns + 1
      lastLength = length
      const isOver = quietTurns === QUIET_TURNS || this.clock.now() > end
      if (isOver || this.#isWhole()) this.#flush()
      else setImmediate(checkQueue)
    }
    // Runs after this turn, so that the batch has every write read in it.
    setImmediate(checkQueue)
  }

  #takeBatch(): QueuedWrite<Write>[] {
    const batch = this.#queue.splice(0, this.#maxBatch)
    this.#queueBytes = bytesOf(this.#queue)
    return batch.filter(isWanted)
  }

  async #flush(): Promise<void> {
    this.#state = 'committing'
    const roundTripMs = this.#arrivedAt - this.#answeredAt
    this.#servingMs = roundTripMs > PAUSE_MS ? 0 : roundTripMs / this.#queue.length
    const batch = this.#takeBatch()
    const startedAt = this.clock.now()
    const [result] = await Promise.allSettled([
      batch.length > 0 ? this.commit(batch.map(({ write }) => write)) : [],
    ])
    const now = this.clock.now()
    this.#planNextBatch(batch.length, now, now - startedAt)
    this.#answeredAt = now
    if (result.status === 'rejected') refuse(batch, result.reason)
    else if ('inDoubt' in result.value) {
      result.value.inDoubt.then(
        (outcomes) => answer(batch, outcomes),
        (reason) => refuse(batch, reason),
      )
    } else answer(batch, result.value)
  }

  #planNextBatch(writes: number, now: number, milliseconds: number): void {
    const { batchWrites } = this.limits
    const round = writes + this.#queue.length
    // Committing half a round takes almost as long as the whole.
    const takesTurns = round >= SMALLEST_SPLIT && round * this.#servingMs > 1.5 * milliseconds
    // Some of the clients just answered are still sending: fewer than half may be queued.
    this.#minBatch = takesTurns ? round / 4 : round
    this.#maxBatch = takesTurns ? Math.min(Math.ceil(round / 2), batchWrites) : batchWrites
    this.#holdUntil = now + Math.min(milliseconds / 2, MAX_HOLD_MS)
    this.#state = 'idle'
    if (this.queueLength === 0) for (const resolve of this.#idleWaiters.splice(0)) resolve()
    if (this.#queue.length === 0) return
    if (this.#isWhole()) this.#flush()
    else this.#gather()
  }
}
