// JSON with exact integers: a JavaScript number would round large ones.

const INTEGER = /^-?\d+$/

declare global {
  interface JSON {
    rawJSON(text: string): object
  }
}

// `source` is the text of a number; all browsers provide it since 2025.
function revive(_: string, value: unknown, context?: { source?: string }): unknown {
  if (typeof value !== 'number' || Number.isSafeInteger(value)) return value
  const source = context?.source ?? ''
  return INTEGER.test(source) ? BigInt(source) : value
}

/** Parses JSON; integers beyond 2^53 become bigints. */
export const parseExact = (text: string): unknown => JSON.parse(text, revive)

/** Writes a value as indented JSON, with bigints as integers. */
export function writeExact(value: unknown): string {
  const exact = (_: string, value: unknown) =>
    typeof value === 'bigint' ? JSON.rawJSON(String(value)) : value
  return JSON.stringify(value, exact, 2) ?? ''
}

export type Token = {
  readonly kind: 'key' | 'string' | 'number' | 'word' | 'mark'
  readonly text: string
}

const LEXEME = /"(?:[^"\\]|\\.)*"|[-+.\w]+|[[\]{}:,]/g

function isJson(text: string): boolean {
  try {
    JSON.parse(text)
    return true
  } catch {
    return false
  }
}

function kindOf(lexeme: string, next: string | undefined): Token['kind'] {
  if (lexeme.startsWith('"')) return next === ':' ? 'key' : 'string'
  if (/^[-\d]/.test(lexeme)) return 'number'
  return /^[a-z]/.test(lexeme) ? 'word' : 'mark'
}

/** Indents JSON and splits it into tokens to colour; null if the text is not JSON. */
export function indent(text: string): Token[] | null {
  if (!isJson(text)) return null
  const lexemes = text.match(LEXEME) ?? []
  const tokens: Token[] = []
  let depth = 0
  const mark = (text: string) => tokens.push({ kind: 'mark', text })
  const line = () => mark(`\n${'  '.repeat(depth)}`)
  for (const [at, lexeme] of lexemes.entries()) {
    const opens = lexeme === '{' || lexeme === '['
    const closes = lexeme === '}' || lexeme === ']'
    const isEmpty = opens && '}]'.includes(lexemes[at + 1] ?? ' ')
    if (closes && !'{['.includes(lexemes[at - 1] ?? ' ')) {
      depth--
      line()
    }
    tokens.push({ kind: kindOf(lexeme, lexemes[at + 1]), text: lexeme })
    if (opens && !isEmpty) depth++
    if ((opens && !isEmpty) || lexeme === ',') line()
    if (lexeme === ':') mark(' ')
  }
  return tokens
}
