// Describes a schema in words, and by an example.
import { referenceOf, resolve, type Schema, type Schemas } from './description'

const typesOf = ({ type }: Schema): readonly string[] =>
  type === undefined ? [] : typeof type === 'string' ? [type] : type

/** The type in words: `integer (int64)`, `array of NewPlant`, `Cursor or null`. */
export function typeText(schema: Schema): string {
  const name = referenceOf(schema)
  if (name !== null) return name
  const choices = schema.anyOf ?? schema.oneOf
  if (choices) return choices.map(typeText).join(' or ')
  if (schema.const !== undefined) return JSON.stringify(schema.const)
  if (schema.enum) return schema.enum.map((value) => JSON.stringify(value)).join(' or ')
  if (schema.items) return `array of ${typeText(schema.items)}`
  const format = schema.format ? ` (${schema.format})` : ''
  return `${typesOf(schema).join(' or ') || 'any'}${format}`
}

const range = (from: unknown, to: unknown, unit: string): string[] => {
  if (from === undefined && to === undefined) return []
  if (to === undefined) return [`at least ${from}${unit}`]
  return [from === undefined ? `at most ${to}${unit}` : `${from} to ${to}${unit}`]
}

// The patterns of the description in words, by their first characters; the first match counts.
const PATTERNS: readonly (readonly [start: string, words: string])[] = [
  ['^[^\\u0000]*$', 'any text without U+0000'],
  ['^-?\\d{1,19}$', 'an int64 in digits'],
  ['^([0-9a-f]{16})-(\\d{1,15})$|^now$', 'a cursor from a response, or now'],
  ['^([0-9a-f]{16})-(\\d{1,15})$', 'a cursor from a response'],
  ['^(\\*|(?:W\\/)?"', '* or a list of entity tags'],
]

const patternText = (pattern: string): string =>
  PATTERNS.find(([start]) => pattern.startsWith(start))?.[1] ?? `pattern ${pattern}`

/** The limits of a value in words. */
export const limitsOf = (schema: Schema): string[] => [
  ...range(schema.minimum, schema.maximum, ''),
  ...range(schema.minItems, schema.maxItems, ' items'),
  ...range(schema.minLength, schema.maxLength, ' characters'),
  ...(schema.pattern === undefined ? [] : [patternText(schema.pattern)]),
  ...(schema.default === undefined ? [] : [`default: ${JSON.stringify(schema.default)}`]),
]

/** A valid initial value. */
export function exampleOf(schema: Schema, schemas: Schemas): unknown {
  const { examples, properties, items, anyOf, oneOf, ...rest } = resolve(schema, schemas)
  if (examples && examples.length > 0) return examples[0]
  if (rest.const !== undefined) return rest.const
  if (rest.enum) return rest.enum[0]
  if (items) return [exampleOf(items, schemas)]
  if (properties) {
    const fields = Object.entries(properties)
    return Object.fromEntries(fields.map(([name, field]) => [name, exampleOf(field, schemas)]))
  }
  const choice = (anyOf ?? oneOf)?.[0]
  if (choice) return exampleOf(choice, schemas)
  const [type] = typesOf(rest)
  if (type === 'integer' || type === 'number') return 1
  if (type === 'boolean') return true
  return type === 'null' ? null : type === 'object' ? {} : ''
}
