// The health of a storage, as shown by its commits.

import { RequestError } from '../errors'

// /health is public, and a probe writes to the disk: a write confirmed within the last second is enough.
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
}

type Watched = {
  readonly confirmations: Confirmations
  /** The name of the storage in messages. */
  readonly storage: string
  /** Maximum wait for a confirmation before the storage counts as unwritable. */
  readonly stalledMs: number
  /** The known reason that the storage cannot write; null if there is none. */
  readonly problem: () => RequestError | null
  /** Writes without changing anything. */
  readonly write: () => Promise<unknown>
}

/** Watches one storage. */
export function watchHealth({ confirmations, storage, stalledMs, problem, write }: Watched) {
  // Shared by all callers until the write ends: each race with a stalled write would otherwise leave a promise behind.
  let probing: Promise<unknown> | undefined

  function writeBriefly(): Promise<unknown> {
    const written = write().finally(() => {
      probing = undefined
    })
    return Promise.race([written, Bun.sleep(PROBE_PATIENCE_MS)])
  }

  /** The reason that the storage cannot write, or is stalled; null if neither is known. */
  function current(): RequestError | null {
    const known = problem()
    const seconds = Math.floor(confirmations.stalledFor() / 1000)
    if (known || seconds * 1000 < stalledMs) return known
    return new RequestError('cannot write', `${storage} has confirmed no write for ${seconds} s`)
  }

  /** Rejects with the reason if the storage cannot write. Waits briefly, even for a full queue or a stall. */
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
    if (refusal && !(refusal instanceof RequestError && refusal.error === 'busy')) throw refusal
  }

  return { problem: current, probe }
}
