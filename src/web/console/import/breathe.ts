// Lets the browser draw and answer while something long is done.

const MAX_MS = 12

/** Returns a function to await between pieces of work: it pauses if they took long. */
export function breathe(): () => Promise<void> {
  let since = performance.now()
  return async () => {
    if (performance.now() - since < MAX_MS) return
    await new Promise((resolve) => setTimeout(resolve))
    since = performance.now()
  }
}
