// Removes entries of the log of changes that are older than is kept.

const LOOK_EVERY_MS = 1000
// Between two steps, commits go on without one.
const PAUSE_MS = 20

/** `step` removes a few entries; resolves to false if none is left to remove. Returns a function that ends it. */
export function removeOldEntries(step: () => Promise<boolean>): () => void {
  let isEnded = false
  let timer = setTimeout(run, LOOK_EVERY_MS)

  async function run(): Promise<void> {
    // The storage reports its own failures; later, it is tried again.
    const isMoreLeft = await step().catch(() => false)
    if (!isEnded) timer = setTimeout(run, isMoreLeft ? PAUSE_MS : LOOK_EVERY_MS)
  }

  return () => {
    isEnded = true
    clearTimeout(timer)
  }
}
