// Describes the problems of a value that does not match its schema.

import { Kind } from '@sinclair/typebox'

/** The parts of a schema used in messages. */
type Rule = {
  readonly [Kind]?: string
  readonly type?: string | readonly string[]
  /** The rule for a value of the right type. */
  readonly error?: unknown
  /** The problem of an unknown field, if the schema allows none. */
  readonly unknown?: unknown
}
type SchemaError = { path: string; value: unknown; schema: Rule; type?: number }
export type Validator = { Errors(value: unknown): Iterable<SchemaError> }

const MAX_FIELDS = 10
// A body may have a hundred thousand unknown fields, with one problem.
const MAX_ERRORS = 1000
// TypeBox's `ValueErrorType.ObjectAdditionalProperties`, whose module the console would have to load.
const UNKNOWN_FIELD = 42

// '/plants/3/name' in a body becomes 'plants[3].name (id 7)', without any other input of the client.
function nameField(path: string, value: unknown): string {
  const name = path
    .slice(1)
    .replace(/\/(\d+)/g, '[$1]')
    .replaceAll('/', '.')
  const index = /^\/plants\/(\d+)(?:\/|$)/.exec(path)?.[1]
  if (index === undefined) return name || 'the body'
  const plants = (value as { plants: { id?: unknown }[] }).plants
  const id = plants[Number(index)]?.id
  return typeof id === 'bigint' ? `${name} (id ${id})` : name
}

/** The first problems, in one line. */
export function listProblems(problems: readonly string[]): string {
  const text = problems.slice(0, MAX_FIELDS).join('; ')
  return problems.length > MAX_FIELDS ? `${text}; and more` : text
}

// JSON's types, by their names in schemas.
function typeOf(value: unknown): string {
  if (value === null) return 'null'
  if (Array.isArray(value)) return 'array'
  return typeof value === 'bigint' || typeof value === 'number' ? 'integer' : typeof value
}

const NAMES: Readonly<Record<string, string>> = {
  null: 'null',
  array: 'an array',
  integer: 'a number',
  boolean: 'a boolean',
  string: 'a string',
  object: 'an object',
}
const EXPECTED: Readonly<Record<string, string>> = {
  Text: 'expected a string',
  TextOrNull: 'expected a string or null',
  Int64: 'expected an integer',
}
// Values in a path or a query are text, whatever type they represent.
const PARAMETER = 'Parameter'

/** The expectation of a schema and, for another type, the type found. Never the value itself. */
export function expectation(rule: Rule, value: unknown): string {
  const { [Kind]: kind = '', type = [], error = 'does not match' } = rule
  const actualType = typeOf(value)
  if (kind === PARAMETER || [type].flat().includes(actualType)) return String(error)
  return `${EXPECTED[kind] ?? error}, found ${NAMES[actualType]}`
}

/** The problem of a field's value; JSON has no undefined. */
export const fieldProblem = (field: string, value: unknown, rule: Rule): string =>
  value === undefined ? `${field} is missing` : `${field}: ${expectation(rule, value)}`

/** The field of an error, and its problem. The name of an unknown field comes from the client: it is not echoed. */
function explain({ path, value, schema, type }: SchemaError, body: unknown): [string, string] {
  if (type !== UNKNOWN_FIELD) {
    const field = nameField(path, body)
    return [field, fieldProblem(field, value, schema)]
  }
  // A query has no place to name.
  if (!schema.unknown) return ['', String(schema.error)]
  const place = nameField(path.slice(0, path.lastIndexOf('/')), body)
  return [place, `${place}: ${schema.unknown}`]
}

/** Lists every field that does not match its schema, with the expectation; never the value sent. */
export function listMismatches(validator: Validator, value: unknown): string {
  const problems = new Map<string, string>()
  let errors = 0
  for (const error of validator.Errors(value)) {
    const [field, problem] = explain(error, value)
    if (!problems.has(field)) problems.set(field, problem)
    if (problems.size > MAX_FIELDS || ++errors === MAX_ERRORS) break
  }
  return listProblems([...problems.values()])
}
