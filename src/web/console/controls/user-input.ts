// Watches the user's inputs, so that the page does not move the focus of a busy user.

let inputs = 0
let lastInput = Number.NEGATIVE_INFINITY
let isTableInUse = false

// Nobody who types goes on after so long without a look at the page.
const PAUSE_MS = 1000

/** The number of keys and presses so far. */
export const countInputs = (): number => inputs

/** True if the last key or press was in the table. */
export const wasInTable = (): boolean => isTableInUse

/** The time until the user has paused. */
export const untilPause = (): number => Math.max(0, lastInput + PAUSE_MS - performance.now())

/** Starts watching. Call the result to stop. */
export function watchInput(): () => void {
  const count = ({ target }: Event): void => {
    inputs += 1
    lastInput = performance.now()
    isTableInUse = target instanceof Element && target.closest('[role="grid"]') !== null
  }
  addEventListener('keydown', count, true)
  addEventListener('pointerdown', count, true)
  return () => {
    removeEventListener('keydown', count, true)
    removeEventListener('pointerdown', count, true)
  }
}
