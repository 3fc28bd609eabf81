// Finds the most likely intended name for a mistyped word.

/**
 * True if at most this many edits turn one word into another: a letter inserted, deleted, replaced, or swapped with its
 * neighbour.
 */
function isNear(from: string, to: string, edits: number): boolean {
  if (edits < 0) return false
  if (from === to) return true
  if (from[0] === to[0]) return isNear(from.slice(1), to.slice(1), edits)
  const isSwap = from[0] === to[1] && from[1] === to[0]
  return (
    isNear(from.slice(1), to, edits - 1) ||
    isNear(from, to.slice(1), edits - 1) ||
    isNear(from.slice(1), to.slice(1), edits - 1) ||
    (isSwap && isNear(from.slice(2), to.slice(2), edits - 1))
  )
}

/** The name that is at most two edits, and half the word's length, away; undefined if there is none. */
function nearestTo(word: string, names: readonly string[]): string | undefined {
  for (let edits = 0; edits <= Math.min(2, word.length / 2); edits++) {
    const nearest = names.find((name) => isNear(word, name, edits))
    if (nearest !== undefined) return nearest
  }
  return undefined
}

/** `; did you mean "serve"?`, or empty if no name is near. */
export function suggest(word: string, names: readonly string[]): string {
  const nearest = nearestTo(word, names)
  return nearest === undefined ? '' : `; did you mean "${nearest}"?`
}
