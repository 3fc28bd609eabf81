// The results of faults and of the cases of docs/hosting.md.

export type Result = 'passed' | 'FAILED' | 'skipped'

const results = { passed: 0, FAILED: 0, skipped: 0 }

/** Prints how something ended that began at `startedAt`, by performance.now(). */
export function print(
  word: Result | 'again',
  { name, about }: { readonly name: string; readonly about: string },
  startedAt: number,
  findings: readonly string[],
): void {
  const seconds = ((performance.now() - startedAt) / 1000).toFixed(1).padStart(6)
  const shown = [about, ...findings].join(' | ')
  console.log(`${word.padEnd(7)} ${name.padEnd(22)} ${seconds} s  ${shown}`)
  if (word !== 'again') results[word]++
}

/** Prints the sum of all results; returns the exit code. */
export function printSum(): number {
  const { passed, FAILED, skipped } = results
  console.log(`${passed} passed, ${FAILED} failed${skipped > 0 ? `, ${skipped} skipped` : ''}`)
  return FAILED > 0 ? 1 : 0
}
