// Watches the user's inputs, so that the page does not move the focus of a busy user.

let inputs = 0
let isTableInUse = false

/** The number of keys and presses so far. */
export const countInputs = (): number => inputs

/** True if the last key or press was in the table. */
export const wasInTable = (): boolean => isTableInUse

/** Starts watching. Call the result to stop. */
export function watchInput(): () => void {
  const count = ({ target }: Event): void => {
    inputs += 1
    isTableInUse = target instanceof Element && target.closest('[role="grid"]') !== null
  }
  addEventListener('keydown', count, true)
  addEventListener('pointerdown', count, true)
  return () => {
    removeEventListener('keydown', count, true)
    removeEventListener('pointerdown', count, true)
  }
}
