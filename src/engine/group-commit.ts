import { type ErrorNumber, PlantError } from '../errors'

/** How one change of a batch ended: null when it is durable, else why nothing of it was stored; `detail` is for the log. */
export type Outcome = {
  readonly error: ErrorNumber
  readonly message?: string
  readonly detail?: string
} | null

/**
 * Makes a batch of changes durable, in their order, and says how each ended, or promises to where that is not known
 * yet. Rejects where the batch failed whole.
 */
export type Commit<Change> = (batch: Change[]) => Promise<(Outcome | Promise<Outcome>)[]>

export type GroupCommitLimits = {
  /** Changes that may wait at a time. */
  readonly queuedChanges: number
  /** Bytes that the waiting changes may hold, as `submit` is told of them. */
  readonly queuedBytes: number
  /** Changes that share a commit. */
  readonly batchChanges: number
}

type Waiting<Change> = {
  readonly change: Change
  readonly bytes: number
  readonly signal: AbortSignal | undefined
  readonly resolve: () => void
  readonly reject: (reason: unknown) => void
}

// A shorter hold is not worth it: a timer is no finer.
const SHORTEST_HOLD_MS = 1
// Nor is one shorter than half of the time in which the changes that are expected could be read and answered: two
// batches in turn, one that commits while the other is answered, do more then than a full one each time.
const HOLD_MS_PER_CHANGE = 0.01
// A commit that was stalled says nothing of the next.
const LONGEST_HOLD_MS = 250
// The changes of a larger batch take longer than its sync: more of them would make it no cheaper.
const SMALL_BATCH = 64

function end({ resolve, reject }: Waiting<unknown>, outcome: Outcome | undefined): void {
  if (outcome === null) resolve()
  else reject(outcome ? new PlantError(outcome.error, outcome.message) : new PlantError(50001))
}

function endAll(batch: Waiting<unknown>[], outcomes: (Outcome | Promise<Outcome>)[]): void {
  for (const [index, waiting] of batch.entries()) {
    const outcome = outcomes[index]
    if (outcome instanceof Promise) outcome.then((late) => end(waiting, late), waiting.reject)
    else end(waiting, outcome)
  }
}

function isWanted({ signal, reject }: Waiting<unknown>): boolean {
  if (!signal?.aborted) return true
  reject(new PlantError(50301, 'the client has gone'))
  return false
}

/**
 * Lets changes that wait together share one commit (group commit).
 *
 * While a batch commits, the changes that come in wait for the next. When it ends, the next, if it is large, is started
 * before its clients are answered: the disk works while this thread does. But they are likely to come back at once, so
 * on a slow disk the next batch holds for them, for at most half of the time that the last commit took: a full batch
 * each time, instead of two half ones that take turns.
 */
export class GroupCommit<Change> {
  #waiting: Waiting<Change>[] = []
  #waitingBytes = 0
  #expected = 0
  #holdUntil = 0
  #hold: Timer | undefined
  #state: 'idle' | 'holding' | 'due' | 'committing' = 'idle'
  #idle: (() => void)[] = []

  constructor(
    private readonly commit: Commit<Change>,
    private readonly limits: GroupCommitLimits,
    private readonly onCommit: (changes: number, milliseconds: number) => void = () => {},
  ) {}

  /** The changes that wait. */
  get queued(): number {
    return this.#waiting.length
  }

  /**
   * Resolves when the change is durable. Rejects with 50301, and nothing is stored, where too much waits already, or
   * where the signal was aborted before its turn came.
   */
  submit(change: Change, bytes: number, signal?: AbortSignal): Promise<void> {
    if (
      this.#waiting.length >= this.limits.queuedChanges ||
      (this.#waitingBytes + bytes > this.limits.queuedBytes && this.#waiting.length > 0)
    ) {
      return Promise.reject(new PlantError(50301))
    }
    const { promise, resolve, reject } = Promise.withResolvers<void>()
    this.#waiting.push({ change, bytes, signal, resolve, reject })
    this.#waitingBytes += bytes
    this.#arm()
    return promise
  }

  /** Resolves when nothing waits and nothing is being committed. */
  drained(): Promise<void> {
    if (this.#state === 'idle') return Promise.resolve()
    return new Promise((resolve) => this.#idle.push(resolve))
  }

  #arm(): void {
    if (this.#state === 'idle') {
      const hold = this.#holdUntil - performance.now()
      const shortest = Math.max(SHORTEST_HOLD_MS, this.#expected * HOLD_MS_PER_CHANGE)
      if (this.#waiting.length < this.#expected && hold >= shortest) {
        this.#state = 'holding'
        this.#hold = setTimeout(() => this.#flush(), hold)
        return
      }
      if (this.#waiting.length > SMALL_BATCH) {
        this.#flush()
        return
      }
    } else if (this.#state !== 'holding' || this.#waiting.length < this.#expected) {
      return
    }
    clearTimeout(this.#hold)
    this.#state = 'due'
    this.#flushAfterTurn(0)
  }

  // After the other requests that this turn of the event loop has read; and after another turn as long as each brings
  // more of those that are expected, and the batch is small.
  #flushAfterTurn(before: number): void {
    setImmediate(() => {
      const now = this.#waiting.length
      if (now > before && now < Math.min(this.#expected, SMALL_BATCH)) this.#flushAfterTurn(now)
      else this.#flush()
    })
  }

  #take(): Waiting<Change>[] {
    const batch =
      this.#waiting.length <= this.limits.batchChanges
        ? this.#waiting
        : this.#waiting.slice(0, this.limits.batchChanges)
    this.#waiting = this.#waiting.slice(batch.length)
    this.#waitingBytes = 0
    for (const { bytes } of this.#waiting) this.#waitingBytes += bytes
    return batch
  }

  async #flush(): Promise<void> {
    this.#state = 'committing'
    const batch = this.#take().filter(isWanted)
    const changes = batch.map(({ change }) => change)
    const started = performance.now()
    const [result] = await Promise.allSettled([changes.length > 0 ? this.commit(changes) : []])
    const milliseconds = performance.now() - started
    if (result.status === 'fulfilled' && changes.length > 0) {
      this.onCommit(changes.length, milliseconds)
    }
    this.#ended(changes.length, milliseconds)
    if (result.status === 'fulfilled') endAll(batch, result.value)
    else for (const { reject } of batch) reject(result.reason)
  }

  #ended(changes: number, milliseconds: number): void {
    this.#expected = changes + this.#waiting.length
    this.#holdUntil = performance.now() + Math.min(milliseconds / 2, LONGEST_HOLD_MS)
    this.#state = 'idle'
    if (this.#waiting.length > 0) this.#arm()
    else for (const resolve of this.#idle.splice(0)) resolve()
  }
}
