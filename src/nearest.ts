// Finds the name that a mistyped word was probably meant to be.

/** The edit distance of two words: letters inserted, deleted, replaced, or swapped with their neighbour. */
function distance(from: string, to: string): number {
  let [before, last]: number[][] = [
    [],
    Array.from({ length: to.length + 1 }, (_, column) => column),
  ]
  for (let row = 1; row <= from.length; row++) {
    const next = [row]
    for (let column = 1; column <= to.length; column++) {
      const isSame = from[row - 1] === to[column - 1]
      const isSwap = from[row - 1] === to[column - 2] && from[row - 2] === to[column - 1]
      const at = (line: number[] | undefined, index: number) => line?.[index] ?? Infinity
      next[column] = Math.min(
        at(last, column) + 1,
        at(next, column - 1) + 1,
        at(last, column - 1) + (isSame ? 0 : 1),
        isSwap ? at(before, column - 2) + 1 : Infinity,
      )
    }
    before = last
    last = next
  }
  return last?.[to.length] ?? Infinity
}

/** `; did you mean "serve"?` if a name is at most two edits, and half the word's length, away; else empty. */
export function suggest(word: string, names: readonly string[]): string {
  const steps = (name: string) => distance(word, name)
  const [nearest] = names.toSorted((one, other) => steps(one) - steps(other))
  if (nearest === undefined || steps(nearest) > Math.min(2, word.length / 2)) return ''
  return `; did you mean "${nearest}"?`
}
