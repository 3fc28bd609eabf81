// The mutants of a source file: one small change each, found by line, of the code as Biome formats it.

export type Mutant = {
  readonly line: number
  readonly before: string
  readonly after: string
  /** The whole file. */
  readonly program: string
}

type Rule = readonly [pattern: RegExp, replacement: string]

const RULES: readonly Rule[] = [
  [/ === /g, ' !== '],
  [/ !== /g, ' === '],
  [/ < /g, ' <= '],
  [/ <= /g, ' < '],
  [/ > /g, ' >= '],
  [/ >= /g, ' > '],
  [/ && /g, ' || '],
  [/ \|\| /g, ' && '],
  [/ \?\? .+?(?=[;,)]|$)/g, ''],
  [/ \+ /g, ' - '],
  [/ - /g, ' + '],
  [/ \+= /g, ' -= '],
  [/ -= /g, ' += '],
  [/\btrue\b/g, 'false'],
  [/\bfalse\b/g, 'true'],
  [/(?<=[\s(])!(?=[\w#(])/g, ''],
  [/\bif \((?=.)/g, 'if (!true && '],
  [/\bif \((?=.)/g, 'if (true || '],
  [/\bMath\.min\b/g, 'Math.max'],
  [/\bMath\.max\b/g, 'Math.min'],
  [/(?<![\w.'#$])[1-9]\d*(?![\w.'])/g, '0'],
  [/\.(filter|sort|toSorted|slice|reverse|trim|toLowerCase)\((?=[^()]*\)(?!\())[^()]*\)/g, ''],
  // A statement that is a call.
  [/^(\s+)(?:await )?(?!return|throw|if|for|while|super|\w+ =)[\w.#?]+\(.*\)$/g, '$1'],
  [/^(\s+)return (?!.*[{([]$).+$/g, '$1return undefined'],
]

// Comments, imports, types, SQL and messages are no code to mutate.
const SKIPPED =
  /^\s*(\/\/|\*|\/\*|import |export type |type |readonly |export \{|\| |SELECT|INSERT|UPDATE|DELETE|FROM|WHERE)/

const TRANSPILER = new Bun.Transpiler({ loader: 'ts' })

/** The program of a text; null: it is none. */
function compile(text: string): string | null {
  try {
    return TRANSPILER.transformSync(text)
  } catch {
    return null
  }
}

/** A line without the contents of its strings, which no rule changes. */
const maskStrings = (line: string): string =>
  line
    .replace(
      /'(?:[^'\\]|\\.)*'|`[^`]*`|\/(?:[^/\s\\]|\\.)+\/[a-z]*/g,
      (text) => text[0] + '\0'.repeat(text.length - 2) + text[text.length - 1],
    )
    .replace(/\/\/.*$/, (text) => '\0'.repeat(text.length))

function ofLine(line: string, number: number): Omit<Mutant, 'program'>[] {
  if (SKIPPED.test(line)) return []
  const code = maskStrings(line)
  return RULES.flatMap(([pattern, replacement]) =>
    [...code.matchAll(pattern)].map((match) => {
      const [text] = match
      const start = match.index
      const change = replacement.replace('$1', match[1] ?? '')
      const after = line.slice(0, start) + change + line.slice(start + text.length)
      return { line: number, before: line, after }
    }),
  )
}

/** Every mutant of a file that is another program. */
export function mutantsOf(text: string): Mutant[] {
  const lines = text.split('\n')
  const original = compile(text)
  return lines
    .flatMap((line, index) => ofLine(line, index + 1))
    .map((mutant) => ({ ...mutant, program: lines.with(mutant.line - 1, mutant.after).join('\n') }))
    .filter(({ program }) => ![null, original].includes(compile(program)))
}
