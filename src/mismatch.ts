// What a value lacks to match its schema, in words for a client.

type SchemaError = { path: string; schema: { error?: unknown; additionalProperties?: unknown } }
export type Validator = { Errors(value: unknown): Iterable<SchemaError> }

const MOST_FIELDS = 10

// '/plants/3/name' of a body becomes 'plants[3].name (id 7)'. Every part is of the schema, an index or an id.
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

/** Names every field that does not match its schema, and what was expected; never what was sent. */
export function explainMismatch(validator: Validator, value: unknown): string {
  const fields = new Map<string, string>()
  for (const error of validator.Errors(value)) {
    // The name of a field that is not of the schema is the client's own: no echo.
    const isUnknown = error.schema.additionalProperties === false
    const field = isUnknown ? 'the request' : nameField(error.path, value)
    if (!fields.has(field)) fields.set(field, String(error.schema.error ?? 'does not match'))
    if (fields.size > MOST_FIELDS) break
  }
  const named = [...fields].slice(0, MOST_FIELDS)
  const text = named.map(([field, what]) => `${field}: ${what}`).join('; ')
  return fields.size > MOST_FIELDS ? `${text}; and more` : text
}
