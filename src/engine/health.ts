// The health of a storage, as shown by its commits.

import { RequestError } from '../errors'

const PROBE_PATIENCE_MS = 1000

type HealthSource = {
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
export function watchHealth({ isProbeDue, problem, write }: HealthSource): () => Promise<void> {
  // Shared by all callers until the write ends: each race with a stalled write would otherwise leave a promise behind.
  let currentProbe: Promise<unknown> | undefined

  function writeBriefly(): Promise<unknown> {
    const result = write().finally(() => {
      currentProbe = undefined
    })
    return Promise.race([result, Bun.sleep(PROBE_PATIENCE_MS)])
  }

  return async () => {
    let refusal: unknown
    if (isProbeDue()) {
      currentProbe ??= writeBriefly()
      await currentProbe.catch((error) => {
        refusal = error
      })
    }
    const reason = problem()
    if (reason) throw reason
    // A full queue is not the storage's fault.
    if (refusal && !(refusal instanceof RequestError && refusal.error === 'busy')) throw refusal
  }
}
