// Tries every second to recover the storage, beginning with the worst cause.

import type { Attempt, StorageState } from '../../storage-state'

const RETRY_MS = 1000

/** The recovery of one storage. A command ends with an error instead. */
export class Recovery {
  #timer: Timer | undefined
  #running: Promise<void> = Promise.resolve()
  #isRunning = false
  #isSuspect = false
  #isClosed = false

  /** `attempts` report to the state how they ended, and never reject. */
  constructor(
    private readonly state: StorageState,
    private readonly attempts: Readonly<Record<Attempt, () => Promise<void>>>,
  ) {}

  /** Tries soon, if there is anything to try. Called after each report of a failure. */
  start(): void {
    if (this.#isClosed || this.#isRunning || !this.#attempt()) return
    this.#timer ??= setTimeout(() => {
      this.#running = this.#run()
    }, RETRY_MS)
  }

  /** Tries a write soon: one was refused for a reason that may affect others. */
  suspect(): void {
    this.#isSuspect = true
    this.start()
  }

  /** Ends the attempts; resolves when the last one has ended. */
  async close(): Promise<void> {
    this.#isClosed = true
    clearTimeout(this.#timer)
    await this.#running
  }

  #attempt(): Attempt | null {
    return this.state.attempt ?? (this.#isSuspect ? 'trial' : null)
  }

  async #run(): Promise<void> {
    this.#timer = undefined
    this.#isRunning = true
    const attempt = this.#attempt()
    if (attempt === 'trial') this.#isSuspect = false
    if (attempt) await this.attempts[attempt]()
    this.#isRunning = false
    this.start()
  }
}
