// Removes entries of the change log beyond the retention period. A clock that is wrong at one start must not remove
// young entries, so an entry's age does not rest on the clock alone: it is the time that this process has seen pass,
// plus the time between the entries after it. There, a jump of the clock cannot be told from a pause, and counts for a
// tenth of the period, a day at most.

const HOUR_MS = 3_600_000
const MAX_GAP_MS = 24 * HOUR_MS
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
  /** null: none is kept. */
  state(): Promise<EntryRange | null>
  /** The times of at most `limit` entries after a number, oldest first. */
  times(after: number, limit: number): Promise<readonly EntryTime[]>
  /**
   * Removes some of the entries up to a number, oldest first; none from the first on that is younger than the retention
   * period by the clock, and not from the future.
   */
  remove(upTo: number): Promise<void>
}

/** Entries up to `number`, all written before the age of the change log was `end`. */
type Mark = { number: number; readonly begin: number; end: number }

/** The ages of entries, by the time that has passed in a change log. */
class Ages {
  #age = 0
  #lastTime: number | null = null
  #marks: Mark[] = []

  /** The number of the last entry that was added. */
  get last(): number {
    return this.#marks.at(-1)?.number ?? 0
  }

  /** Adds an entry of an earlier time. */
  addTime({ number, at }: EntryTime, keepMs: number): void {
    const time = Number(at)
    const gap = time - (this.#lastTime ?? time)
    this.#lastTime = time
    this.pass(Math.min(Math.max(gap, 0), keepMs / 10, MAX_GAP_MS))
    this.add(Number(number), keepMs)
  }

  /** Adds all entries up to a number, as written by now. */
  add(number: number, keepMs: number): void {
    const mark = this.#marks.at(-1)
    if (number <= this.last) return
    if (mark && this.#age - mark.begin < keepMs / 100)
      Object.assign(mark, { number, end: this.#age })
    else this.#marks.push({ number, begin: this.#age, end: this.#age })
  }

  pass(milliseconds: number): void {
    this.#age += milliseconds
  }

  /** The number up to which entries are at least this old; 0 if none is. */
  olderThan(milliseconds: number): number {
    const isOld = ({ end }: Mark) => this.#age - end >= milliseconds
    const old = this.#marks.findLastIndex(isOld)
    this.#marks.splice(0, old)
    return old < 0 ? 0 : (this.#marks[0]?.number ?? 0)
  }
}

/** The clock of retention; tests replace it. */
export type Clock = {
  /** Monotonic time in milliseconds. */
  now(): number
  /** Lets commits and reads run between two steps. */
  pause(): Promise<void>
}

const MONOTONIC_CLOCK: Clock = { now: () => performance.now(), pause: () => Bun.sleep(PAUSE_MS) }

/** Removes the old entries of one change log. */
export class Retention {
  readonly #startedAt: number
  #ages = new Ages()
  #checkedAt: number | null = null
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
    else {
      const elapsedMs = this.clock.now() - this.#checkedAt
      this.#checkedAt += elapsedMs
      this.#ages.pass(elapsedMs)
      this.#ages.add(last, keepMs)
    }
    const upTo = this.#ages.olderThan(keepMs)
    await this.#remove(state, upTo)
    return Math.min(Math.max(keepMs / 10, MIN_CHECK_MS), HOUR_MS)
  }

  end(): void {
    this.#isEnded = true
  }

  async #readTimes(keepMs: number): Promise<void> {
    const ages = new Ages()
    for (;;) {
      const times = await this.log.times(ages.last, TIMES_PER_READ)
      for (const time of times) ages.addTime(time, keepMs)
      if (times.length < TIMES_PER_READ || this.#isEnded) break
      await this.clock.pause()
    }
    this.#ages = ages
    this.#checkedAt = this.clock.now()
  }

  async #remove(state: EntryRange, upTo: number): Promise<void> {
    let remaining: EntryRange | null = state
    for (
      let first = 0;
      remaining && remaining.first > first && remaining.first <= upTo && !this.#isEnded;
    ) {
      first = remaining.first
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
