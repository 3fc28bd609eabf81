// Counts what the user does, so that a late answer does not move the focus of a user at work.

let acts = 0

/** The number of keys and presses so far. */
export const countActs = (): number => acts

/** Counts from here on. Call the result to stop. */
export function watchHands(): () => void {
  const count = (): void => {
    acts += 1
  }
  addEventListener('keydown', count, true)
  addEventListener('pointerdown', count, true)
  return () => {
    removeEventListener('keydown', count, true)
    removeEventListener('pointerdown', count, true)
  }
}
