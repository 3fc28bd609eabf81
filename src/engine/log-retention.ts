// Removes entries of the log of changes that are older than is kept.

const LOOK_EVERY_MS = 1000
// Between two steps, commits go on without one.
const PAUSE_MS = 20

/** `step` removes a few entries; resolves to false if none is left to remove. Returns a function that ends it. */
export function removeOldEntries(step: () => Promise<boolean>): () => void {
  let isRunning = false
  let isEnded = false

  async function run(): Promise<void> {
    if (isRunning) return
    isRunning = true
    try {
      while (!isEnded && (await step())) await Bun.sleep(PAUSE_MS)
    } catch {
      // The storage reports its own failures; later, it is tried again.
    }
    isRunning = false
  }

  const timer = setInterval(run, LOOK_EVERY_MS)
  return () => {
    isEnded = true
    clearInterval(timer)
  }
}
