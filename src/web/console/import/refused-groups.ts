// Groups refused rows by cause.

export type Refusal = { readonly line: number; readonly problem: string }

const MAX_GROUPS = 100
const MAX_EXAMPLES = 3

/** The rows of one cause. `examples` and `lines`: the first ones. */
export type RefusedGroup = {
  /** The message of the first row. */
  readonly problem: string
  /** The message without the value at fault. */
  readonly cause: string
  readonly count: number
  readonly examples: readonly string[]
  readonly lines: readonly number[]
}

// A column and its value, as messages begin: `id: "P-0" is not a whole number`, `plant 5 is stored with another name or
// tag`.
const WITH_TEXT = /^(\w+): "((?:[^"\\]|\\.)*)" (.+)$/s
const WITH_ID = /^(plant) (-?\d+) (.+)$/s

function splitProblem(problem: string): { cause: string; examples: readonly string[] } {
  const [, column, value, rest] = WITH_TEXT.exec(problem) ?? WITH_ID.exec(problem) ?? []
  if (value === undefined) return { cause: problem, examples: [] }
  return { cause: `the ${column === 'id' ? 'ID' : column} ${rest}`, examples: [value] }
}

/** Returns a function that adds refused rows, and returns all groups so far, up to a limit. */
export function createGroups(): (rows: readonly Refusal[]) => readonly RefusedGroup[] {
  const groups = new Map<string, RefusedGroup>()
  return (rows) => {
    for (const { line, problem } of rows) {
      const { cause, examples } = splitProblem(problem)
      const before = groups.get(cause)
      if (!before && groups.size === MAX_GROUPS) continue
      groups.set(cause, {
        problem: before?.problem ?? problem,
        cause,
        count: (before?.count ?? 0) + 1,
        examples: [...(before?.examples ?? []), ...examples].slice(0, MAX_EXAMPLES),
        lines: [...(before?.lines ?? []), line].slice(0, MAX_EXAMPLES),
      })
    }
    return [...groups.values()]
  }
}
