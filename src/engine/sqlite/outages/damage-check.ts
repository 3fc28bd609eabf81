// Checks a damaged database again from time to time, until it is whole.

// Long enough for a monitor to see the damage.
const FIRST_AFTER_MS = 30_000
// A check reads the whole file: it takes at most a hundredth of the time.
const PAUSE_PER_CHECK = 100

/** The checks of one database. */
export class DamageCheck {
  #timer: Timer | undefined
  #isClosed = false

  /** `check` reads the whole database, and resolves to true if it is whole. */
  constructor(
    private readonly check: () => Promise<boolean>,
    private readonly onWhole: () => void,
  ) {}

  /** Schedules a check, unless one is scheduled. */
  start(): void {
    this.#timer ??= this.#checkAfter(FIRST_AFTER_MS)
  }

  close(): void {
    this.#isClosed = true
    clearTimeout(this.#timer)
  }

  #checkAfter(milliseconds: number): Timer {
    return setTimeout(() => this.#run(), milliseconds)
  }

  async #run(): Promise<void> {
    const startedAt = performance.now()
    const isWhole = await this.check()
    if (this.#isClosed) return
    this.#timer = undefined
    if (isWhole) return this.onWhole()
    const durationMs = performance.now() - startedAt
    this.#timer = this.#checkAfter(Math.max(FIRST_AFTER_MS, PAUSE_PER_CHECK * durationMs))
  }
}
