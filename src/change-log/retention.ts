// Removes entries of the change log that are older than is kept: a few at a time, so that commits never wait long.

const LOOK_EVERY_MS = 1000
// Leaves the storage to commits between two steps.
const PAUSE_MS = 20

/** `step` removes a few entries, and resolves to false if no more are due. Returns a function that ends it. */
export function removeOldEntries(step: () => Promise<boolean>): () => void {
  let isEnded = false
  let timer = setTimeout(run, LOOK_EVERY_MS)

  async function run(): Promise<void> {
    // The storage reports its own failures; the next look tries again.
    const isMoreLeft = await step().catch(() => false)
    if (!isEnded) timer = setTimeout(run, isMoreLeft ? PAUSE_MS : LOOK_EVERY_MS)
  }

  return () => {
    isEnded = true
    clearTimeout(timer)
  }
}
