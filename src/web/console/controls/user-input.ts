// Counts the user's inputs, so that a late answer does not move the focus of a busy user.

let inputs = 0

/** The number of keys and presses so far. */
export const countInputs = (): number => inputs

/** Starts counting. Call the result to stop. */
export function watchInput(): () => void {
  const count = (): void => {
    inputs += 1
  }
  addEventListener('keydown', count, true)
  addEventListener('pointerdown', count, true)
  return () => {
    removeEventListener('keydown', count, true)
    removeEventListener('pointerdown', count, true)
  }
}
