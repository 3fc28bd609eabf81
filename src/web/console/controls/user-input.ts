// Watches the user's inputs, so that the page does not move the focus or view of a user who is busy.

let isTableInUse = false

/** True if the last key or press was in the table. */
export const wasInTable = (): boolean => isTableInUse

/** Starts watching. Call the result to stop. */
export function watchInput(): () => void {
  const watch = ({ target }: Event): void => {
    isTableInUse = target instanceof Element && target.closest('[role="grid"]') !== null
  }
  addEventListener('keydown', watch, true)
  addEventListener('pointerdown', watch, true)
  return () => {
    removeEventListener('keydown', watch, true)
    removeEventListener('pointerdown', watch, true)
  }
}
