// Tells a client in words what is wrong with a value.

type SchemaError = {
  path: string
  value: unknown
  schema: { error?: unknown; additionalProperties?: unknown }
}
export type Validator = { Errors(value: unknown): Iterable<SchemaError> }

const MOST_FIELDS = 10

// '/plants/3/name' in a body becomes 'plants[3].name (id 7)'. Nothing else that the client sent is in it.
function nameField(path: string, value: unknown): string {
  const name = path
    .slice(1)
    .replace(/\/(\d+)/g, '[$1]')
    .replaceAll('/', '.')
  const index = /^\/plants\/(\d+)\//.exec(path)?.[1]
  if (index === undefined) return name || 'the body'
  const plants = (value as { plants: { id?: unknown }[] }).plants
  const id = plants[Number(index)]?.id
  return typeof id === 'bigint' ? `${name} (id ${id})` : name
}

/** The first problems, in one line. */
export function listProblems(problems: readonly string[]): string {
  const named = problems.slice(0, MOST_FIELDS).join('; ')
  return problems.length > MOST_FIELDS ? `${named}; and more` : named
}

/** What is wrong with the value of a field; JSON has no undefined. */
export const explainField = (field: string, value: unknown, expected: string): string =>
  value === undefined ? `${field} is missing` : `${field}: ${expected}`

/** Names every field that does not match its schema, and what was expected; never what was sent. */
export function explainMismatch(validator: Validator, value: unknown): string {
  const problems = new Map<string, string>()
  for (const error of validator.Errors(value)) {
    const expected = String(error.schema.error ?? 'does not match')
    // The name of an unknown field is the client's own: it is not echoed.
    const isUnknown = error.schema.additionalProperties === false
    const field = isUnknown ? '' : nameField(error.path, value)
    const problem = isUnknown ? expected : explainField(field, error.value, expected)
    if (!problems.has(field)) problems.set(field, problem)
    if (problems.size > MOST_FIELDS) break
  }
  return listProblems([...problems.values()])
}
