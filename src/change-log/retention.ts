// Removes entries of the change log beyond the retention period. An entry's age is the time between the entries after it,
// each pause counted as a tenth of the period or a day at most, plus the time that this process has run: a wrong clock
// adds little to it.

const HOUR_MS = 3_600_000
const DAY_MS = 24 * HOUR_MS
// The interval of checks for a change log that another process may begin.
const CHECK_EVERY_MS = 60_000
const MIN_CHECK_MS = 1000
const PAUSE_MS = 20
const TIMES_PER_READ = 2000

/** The retention period, and the numbers of the oldest entry and the last; if it is empty, `first` is one more. */
export type EntryRange = { readonly keepMs: number; readonly first: number; readonly last: number }

/** The number of an entry, and its time in milliseconds since 1970. */
export type EntryTime = { readonly number: bigint; readonly at: bigint }

/** The number of entries removed, and of all entries before and after. */
export type Removal = { readonly removed: number; readonly before: number; readonly after: number }

/** The change log of an engine, for its retention. */
export type RetainedLog = {
  /** Null if none is kept. */
  state(): Promise<EntryRange | null>
  /** The times of at most `limit` entries after a number, oldest first. */
  times(after: number, limit: number): Promise<readonly EntryTime[]>
  /**
   * Removes some of the entries up to a number, oldest first; none from the first on that is younger than the retention
   * period by the clock, and not from the future.
   */
  remove(upTo: number): Promise<unknown>
}

/** The age of the change log when an entry was written, or a little later. */
type Mark = { readonly number: number; readonly age: number }

/** The clock of retention; tests replace it. */
export type Clock = {
  /** Monotonic time in milliseconds. */
  now(): number
  /** Lets commits and reads run between two queries. */
  pause(): Promise<void>
}

const MONOTONIC_CLOCK: Clock = { now: () => performance.now(), pause: () => Bun.sleep(PAUSE_MS) }

/** Removes the old entries of one change log. */
export class Retention {
  readonly #startedAt: number
  #checkedAt: number | null = null
  /** The age of the oldest entry. */
  #age = 0
  #marks: Mark[] = []
  #isEnded = false

  constructor(
    private readonly log: RetainedLog,
    private readonly onRemoved: (removal: Removal) => void,
    private readonly clock: Clock = MONOTONIC_CLOCK,
  ) {
    this.#startedAt = clock.now()
  }

  /** Removes old entries, a few at a time. Resolves to the milliseconds until the next check. */
  async check(): Promise<number> {
    const state = await this.log.state()
    if (!state) return CHECK_EVERY_MS
    const { keepMs, last } = state
    const wait = this.#startedAt + Math.min(HOUR_MS, keepMs) - this.clock.now()
    if (wait > 0) return Math.min(wait, CHECK_EVERY_MS)
    if (this.#checkedAt === null) await this.#readTimes(keepMs)
    const now = this.clock.now()
    this.#age += now - (this.#checkedAt ?? now)
    this.#checkedAt = now
    this.#mark(last, keepMs / 100)
    const old = this.#marks.findLastIndex(({ age }) => this.#age - age >= keepMs)
    this.#marks.splice(0, old)
    if (old >= 0) await this.#remove(state, this.#marks[0]?.number ?? 0)
    return Math.min(Math.max(keepMs / 10, MIN_CHECK_MS), HOUR_MS)
  }

  end(): void {
    this.#isEnded = true
  }

  /** Marks the present age of an entry, unless the last mark is younger than `stepMs`. */
  #mark(number: number, stepMs: number): void {
    const mark = this.#marks.at(-1)
    if (mark && (number <= mark.number || this.#age - mark.age < stepMs)) return
    this.#marks.push({ number, age: this.#age })
  }

  async #readTimes(keepMs: number): Promise<void> {
    this.#age = 0
    this.#marks = []
    let last: EntryTime | undefined
    while (!this.#isEnded) {
      const times = await this.log.times(Number(last?.number ?? 0), TIMES_PER_READ)
      for (const entry of times) {
        const pause = last ? Number(entry.at - last.at) : 0
        this.#age += Math.min(Math.max(pause, 0), keepMs / 10, DAY_MS)
        this.#mark(Number(entry.number), keepMs / 100)
        last = entry
      }
      if (last) this.#mark(Number(last.number), 0)
      if (times.length < TIMES_PER_READ) break
      await this.clock.pause()
    }
  }

  async #remove(state: EntryRange, upTo: number): Promise<void> {
    let remaining: EntryRange | null = state
    let lastFirst = 0
    while (remaining && remaining.first <= upTo && !this.#isEnded) {
      // Nothing more can be removed.
      if (remaining.first <= lastFirst) break
      lastFirst = remaining.first
      await this.log.remove(upTo)
      remaining = await this.log.state()
      await this.clock.pause()
    }
    const entries = ({ first, last }: EntryRange) => last - first + 1
    if (!remaining || remaining.first === state.first) return
    this.onRemoved({
      removed: remaining.first - state.first,
      before: entries(state),
      after: entries(remaining),
    })
  }
}

/** Removes old entries until the returned function is called. */
export function removeOldEntries(
  log: RetainedLog,
  onRemoved: (removal: Removal) => void,
): () => void {
  const retention = new Retention(log, onRemoved)
  let timer = setTimeout(run, MIN_CHECK_MS)
  let isEnded = false

  async function run(): Promise<void> {
    // The storage reports its own failures; the next check tries again.
    const wait = await retention.check().catch(() => CHECK_EVERY_MS)
    if (!isEnded) timer = setTimeout(run, wait)
  }

  return () => {
    isEnded = true
    retention.end()
    clearTimeout(timer)
  }
}
