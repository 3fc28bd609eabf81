import { type ErrorNumber, PlantError } from '../errors'
import type { Log } from '../log'
import { jsonHeaders } from './answer'

// The body of every answer that is not a success.
const errorBody = (error: ErrorNumber, message: string): string =>
  JSON.stringify({ error, message })

const RETRY_AFTER_SECONDS = '1'
const CHALLENGE = 'Bearer realm="plantstore"'

/**
 * The headers that an error has beside its body: challenges (RFC 6750, section 3) and Retry-After (RFC 9110, section
 * 10.2.3).
 */
export const headersOf: Partial<Record<ErrorNumber, Record<string, string>>> = {
  40101: { 'www-authenticate': CHALLENGE },
  40102: { 'www-authenticate': `${CHALLENGE}, error="invalid_token"` },
  40301: { 'www-authenticate': `${CHALLENGE}, error="insufficient_scope", scope="write"` },
  50301: { 'retry-after': RETRY_AFTER_SECONDS },
}

/** The answer to a refused request. */
export function answerError(error: PlantError, more: Record<string, string> = {}): Response {
  const headers = new Headers(jsonHeaders)
  for (const [name, value] of Object.entries({ ...headersOf[error.error], ...more })) {
    headers.set(name, value)
  }
  return new Response(errorBody(error.error, error.message), { status: error.status, headers })
}

type SchemaError = { path: string; schema: { error?: unknown; additionalProperties?: unknown } }
type Validator = { Errors(value: unknown): Iterable<SchemaError> }

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

const isMismatch = (error: unknown): error is Error & { validator: Validator; value: unknown } =>
  error instanceof Error && 'code' in error && error.code === 'VALIDATION' && 'validator' in error

/** What a client is told of anything that was thrown; what it is not told is logged. */
export function toPlantError(error: unknown, log: Log): PlantError {
  if (error instanceof PlantError) return error
  if (isMismatch(error)) return new PlantError(40002, explainMismatch(error.validator, error.value))
  log('error', 'unexpected', {
    detail: error instanceof Error ? (error.stack ?? error.message) : String(error),
  })
  return new PlantError(50001)
}
