// The health of a storage, as shown by its commits.

import { RequestError } from '../errors'

// /health is public, and a probe of a server writes: a write confirmed within the last second is enough.
const PROBE_EVERY_MS = 1000
const PROBE_PATIENCE_MS = 1000

/** The time of the last confirmed write, and the time for which one has been waiting. */
export class Confirmations {
  #waiting = 0
  #waitingSince = 0
  #confirmedAt = Number.NEGATIVE_INFINITY

  /** Notes that a write was sent. */
  sent(): void {
    if (this.#waiting === 0) this.#waitingSince = performance.now()
    this.#waiting += 1
  }

  /** Notes that a write was answered, successfully or not. */
  answered(): void {
    this.#waiting -= 1
    this.#waitingSince = performance.now()
  }

  /** Notes that the storage has confirmed a write. */
  confirmed(): void {
    this.#confirmedAt = performance.now()
  }

  /** Milliseconds since the last confirmed write. */
  sinceConfirmed(): number {
    return performance.now() - this.#confirmedAt
  }

  /** Milliseconds for which a write has been unanswered; 0 if none is waiting. */
  stalledFor(): number {
    return this.#waiting === 0 ? 0 : performance.now() - this.#waitingSince
  }

  /** True if nothing was confirmed within the last second. */
  isProbeDue(): boolean {
    return this.sinceConfirmed() >= PROBE_EVERY_MS
  }

  /** The problem of a storage that has confirmed nothing for so long; null if it has none. */
  stall(storage: string, stalledMs: number): RequestError | null {
    const seconds = Math.floor(this.stalledFor() / 1000)
    if (seconds * 1000 < stalledMs || seconds === 0) return null
    return new RequestError('cannot write', `${storage} has confirmed no write for ${seconds} s`)
  }
}

type Watched = {
  /** True if the known state is not enough. */
  readonly isProbeDue: () => boolean
  /** The known reason that the storage cannot write; null if there is none. */
  readonly problem: () => RequestError | null
  /** Writes without changing anything. */
  readonly write: () => Promise<unknown>
}

/**
 * Returns the probe of one storage: it rejects with the reason if the storage cannot write. It waits briefly, even for
 * a full queue or a stall.
 */
export function watchHealth({ isProbeDue, problem, write }: Watched): () => Promise<void> {
  // Shared by all callers until the write ends: each race with a stalled write would otherwise leave a promise behind.
  let probing: Promise<unknown> | undefined

  function writeBriefly(): Promise<unknown> {
    const written = write().finally(() => {
      probing = undefined
    })
    return Promise.race([written, Bun.sleep(PROBE_PATIENCE_MS)])
  }

  return async () => {
    let refusal: unknown
    if (isProbeDue()) {
      probing ??= writeBriefly()
      await probing.catch((error) => {
        refusal = error
      })
    }
    const reason = problem()
    if (reason) throw reason
    // A full queue is not the storage's fault.
    if (refusal && !(refusal instanceof RequestError && refusal.error === 'busy')) throw refusal
  }
}
