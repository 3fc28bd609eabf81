// Removes entries of the change log beyond the retention period: a few at a time, so that commits never wait long.

const LOOK_EVERY_MS = 1000
// Lets commits run between two steps.
const PAUSE_MS = 20

/**
 * `step` removes a few entries, and resolves to false if no more are due. Returns a function that stops the removal.
 */
export function removeOldEntries(step: () => Promise<boolean>): () => void {
  let isEnded = false
  let timer = setTimeout(run, LOOK_EVERY_MS)

  async function run(): Promise<void> {
    // The storage reports its own failures; the next run tries again.
    const isMoreLeft = await step().catch(() => false)
    if (!isEnded) timer = setTimeout(run, isMoreLeft ? PAUSE_MS : LOOK_EVERY_MS)
  }

  return () => {
    isEnded = true
    clearTimeout(timer)
  }
}
