// Finds the most likely intended name for a mistyped word.

/** True if at most this many edits turn one word into another: a letter inserted, deleted or replaced. */
function isNear(from: string, to: string, edits: number): boolean {
  if (edits < 0) return false
  if (from === to) return true
  if (from[0] === to[0]) return isNear(from.slice(1), to.slice(1), edits)
  return (
    isNear(from.slice(1), to, edits - 1) ||
    isNear(from, to.slice(1), edits - 1) ||
    isNear(from.slice(1), to.slice(1), edits - 1)
  )
}

/** `; did you mean "serve"?`; empty if no name is at most two edits, and half the word's length, away. */
export function suggest(word: string, names: readonly string[]): string {
  for (let edits = 0; edits <= Math.min(2, word.length / 2); edits++) {
    const nearest = names.find((name) => isNear(word, name, edits))
    if (nearest !== undefined) return `; did you mean "${nearest}"?`
  }
  return ''
}
