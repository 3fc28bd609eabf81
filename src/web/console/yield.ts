// Pauses during long work, in which the browser can draw and respond.

// Below the time of a frame.
const MAX_BLOCKED_MS = 10

/** Returns a function to await between pieces of work: it pauses if they took long. */
export function yieldToBrowser(): () => Promise<void> {
  let since = performance.now()
  return async () => {
    if (performance.now() - since < MAX_BLOCKED_MS) return
    await new Promise((resolve) => setTimeout(resolve))
    since = performance.now()
  }
}
