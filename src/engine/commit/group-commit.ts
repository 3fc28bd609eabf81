// Group commit: writes that wait together share one commit. Knows no database. Phases:
// - idle: the queue is empty.
// - gathering: a write has arrived. A slow disk holds the batch for the clients just answered; then event loop turns
//   are counted until no more writes arrive.
// - committing: the batch is being written; new writes wait for the next one. At the end the clients are answered.

import { clientGone, RequestError } from '../../errors'
import { type Done, isDone, type Outcome, type ReportOf } from './write'

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
  /** Calls `act` after this many milliseconds. Returns a function that cancels it. */
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

function answer(batch: readonly Waiting<unknown>[], outcomes: readonly Outcome[]): void {
  for (const [index, { resolve, reject }] of batch.entries()) {
    const outcome = outcomes[index]
    if (isDone(outcome)) resolve(outcome)
    else if (outcome === undefined) reject(new RequestError('unexpected'))
    else reject(new RequestError(outcome.error, outcome.message))
  }
}

const bytesOf = (writes: readonly Waiting<unknown>[]): number =>
  writes.reduce((sum, { bytes }) => sum + bytes, 0)

function refuse(batch: readonly Waiting<unknown>[], reason: unknown): void {
  for (const { reject } of batch) reject(reason)
}

function isWanted({ signal, reject }: Waiting<unknown>): boolean {
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
  #waiting: Waiting<Write>[] = []
  #waitingBytes = 0
  /** 'gathering': a batch is about to be committed; 'committing': a commit is in progress. */
  #state: 'idle' | 'gathering' | 'committing' = 'idle'
  /** Minimum and maximum size of the next batch, and the end of the wait for the minimum. */
  #least = 0
  #most: number
  #holdUntil = 0
  /** Times of the last answer and of the last arrival. */
  #answeredAt = Number.NEGATIVE_INFINITY
  #arrivedAt = 0
  /** Milliseconds per client between an answer and its next write. */
  #serving = 0
  /** Cancels the timer of a held batch. */
  #cancelHold: (() => void) | undefined
  #drained: (() => void)[] = []

  constructor(
    private readonly commit: Commit<Write>,
    private readonly limits: GroupCommitLimits,
    private readonly clock: Clock = monotonic,
  ) {
    this.#most = limits.batchWrites
  }

  /** Number of queued writes. */
  get queued(): number {
    return this.#waiting.length
  }

  /**
   * Resolves to the report of the write when it is durable. Rejects with `busy`, and stores nothing, if the queue is
   * full or the signal is aborted before the commit.
   */
  submit<W extends Write>(write: W, bytes: number, signal?: AbortSignal): Promise<ReportOf<W>> {
    const { promise, resolve, reject } = Promise.withResolvers<Done>()
    this.#enqueue({ write, bytes, signal, resolve, reject })
    // Each kind of write is answered with its own report.
    return promise as Promise<ReportOf<W>>
  }

  /** Resolves when the queue is empty and no commit is in progress. */
  drained(): Promise<void> {
    if (this.#state === 'idle') return Promise.resolve()
    return new Promise((resolve) => this.#drained.push(resolve))
  }

  #enqueue(waiting: Waiting<Write>): void {
    const { queuedWrites, queuedBytes } = this.limits
    const { bytes, reject } = waiting
    const isFull =
      this.queued >= queuedWrites || (this.#waitingBytes + bytes > queuedBytes && this.queued > 0)
    if (isFull) {
      reject(new RequestError('busy'))
      return
    }
    this.#waiting.push(waiting)
    this.#waitingBytes += bytes
    this.#arrivedAt = this.clock.now()
    if (this.#state === 'idle') this.#gather()
    else if (this.#cancelHold && this.#isWhole()) this.#endHold()
  }

  // True if the next batch is as large as can be expected.
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
    // Runs after this turn, so that the batch has every write read in it.
    setImmediate(look)
  }

  #takeBatch(): Waiting<Write>[] {
    const batch = this.#waiting.splice(0, this.#most)
    this.#waitingBytes = bytesOf(this.#waiting)
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
        (settled) => answer(batch, settled),
        (reason) => refuse(batch, reason),
      )
    } else answer(batch, result.value)
  }

  #ended(writes: number, now: number, milliseconds: number): void {
    const { batchWrites } = this.limits
    const round = writes + this.#waiting.length
    // Committing half a round takes almost as long as the whole.
    const takesTurns = round >= SMALLEST_SPLIT && round * this.#serving > 1.5 * milliseconds
    // Some of the clients just answered are still sending: fewer than half may be queued.
    this.#least = takesTurns ? round / 4 : round
    this.#most = takesTurns ? Math.min(Math.ceil(round / 2), batchWrites) : batchWrites
    this.#holdUntil = now + Math.min(milliseconds / 2, MAX_HOLD_MS)
    this.#state = 'idle'
    if (this.queued === 0) for (const resolve of this.#drained.splice(0)) resolve()
    if (this.#waiting.length === 0) return
    if (this.#isWhole()) this.#flush()
    else this.#gather()
  }
}
