// Whether a storage can write, as its commits show.

import { ApiError } from '../errors'

// Anybody may ask for a probe, which writes to the disk: a write that was confirmed within the last second is enough.
const PROBE_EVERY_MS = 1000
const PROBE_PATIENCE_MS = 1000

/** When the storage last confirmed a write, and for how long it has kept one waiting. */
export class Confirmations {
  #waiting = 0
  #waitingSince = 0
  #confirmedAt = Number.NEGATIVE_INFINITY

  /** Notes that a write was sent. */
  sent(): void {
    if (this.#waiting === 0) this.#waitingSince = performance.now()
    this.#waiting += 1
  }

  /** Notes that a write was answered, in whatever way. */
  answered(): void {
    this.#waiting -= 1
    this.#waitingSince = performance.now()
  }

  /** Notes that the storage has just confirmed a write. */
  confirmed(): void {
    this.#confirmedAt = performance.now()
  }

  /** Milliseconds since a write was last confirmed. */
  sinceConfirmed(): number {
    return performance.now() - this.#confirmedAt
  }

  /** Milliseconds for which the storage has answered no write; 0 if none waits. */
  stalledFor(): number {
    return this.#waiting === 0 ? 0 : performance.now() - this.#waitingSince
  }
}

type Watched = {
  readonly confirmations: Confirmations
  /** What confirms writes, for messages. */
  readonly storage: string
  /** How long a write may wait for its confirmation before the storage counts as unwritable. */
  readonly stalledMs: number
  /** Why the storage is known not to write; null if it is not. */
  readonly problem: () => ApiError | null
  /** Writes something that changes nothing. */
  readonly write: () => Promise<unknown>
}

/** Watches one storage. */
export function watchHealth({ confirmations, storage, stalledMs, problem, write }: Watched) {
  // Shared by all who ask until the write has ended: one that stalls would keep every promise that it is raced with.
  let probing: Promise<unknown> | undefined

  function writeBriefly(): Promise<unknown> {
    const written = write().finally(() => {
      probing = undefined
    })
    return Promise.race([written, Bun.sleep(PROBE_PATIENCE_MS)])
  }

  /** Why the storage cannot write, or confirms nothing for now; null if it can, or nobody knows yet. */
  function current(): ApiError | null {
    const known = problem()
    const seconds = Math.floor(confirmations.stalledFor() / 1000)
    if (known || seconds * 1000 < stalledMs) return known
    return new ApiError(50302, `${storage} has confirmed no write for ${seconds} s`)
  }

  /** Rejects with the reason if the storage cannot write. It never waits long, be it for the queue or for a stall. */
  async function probe(): Promise<void> {
    let refusal: unknown
    if (confirmations.sinceConfirmed() >= PROBE_EVERY_MS) {
      probing ??= writeBriefly()
      await probing.catch((error) => {
        refusal = error
      })
    }
    const reason = current()
    if (reason) throw reason
    // A full queue is not the storage's fault.
    if (refusal && !(refusal instanceof ApiError && refusal.error === 50301)) throw refusal
  }

  return { problem: current, probe }
}
