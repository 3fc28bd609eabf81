// The schemas of a plant, and the types of the same names.

// From TypeBox, not Elysia: the console uses these schemas too, and its bundle omits unused parts of TypeBox.
import * as t from '@sinclair/typebox'

export const INT64_MIN = -(2n ** 63n)
export const INT64_MAX = 2n ** 63n - 1n
const INT64_TEXT = /^-?\d{1,19}$/

const isInt64 = (value: bigint): boolean => value >= INT64_MIN && value <= INT64_MAX

/** Parses an int64 from decimal digits, as in a path; null for any other text. */
export function parseInt64(text: string): bigint | null {
  if (!INT64_TEXT.test(text)) return null
  const value = BigInt(text)
  return isInt64(value) ? value : null
}

/** An int64 as a number; null if it has no exact one. */
export function exactNumber(value: bigint): number | null {
  const number = Number(value)
  return Number.isSafeInteger(number) ? number : null
}

t.TypeRegistry.Set('Int64', (_, value) => typeof value === 'bigint' && isInt64(value))

// `error` is the message for a mismatch: Elysia would echo the value, and throw if it contains a bigint.
// `additionalProperties: undefined`: unknown fields are left out of Elysia's copy, which would keep them if it were true,
// and refuse them without the key; `false`: they are refused, with the message `unknown`.
// `title` names a schema in the OpenAPI description.

/** An identifier, exact over the whole range: a bigint here, an integer without quotes in JSON. */
export const Int64 = t.Unsafe<bigint>({
  [t.Kind]: 'Int64',
  type: 'integer',
  format: 'int64',
  minimum: INT64_MIN,
  maximum: INT64_MAX,
  description: 'Identification number of the plant, an exact int64.',
  examples: [1n],
  error: `expected an integer from ${INT64_MIN} to ${INT64_MAX}`,
})
export type Int64 = bigint

/** True if a value is a text that every database stores faithfully: well-formed Unicode without U+0000. */
export const isText = (value: unknown): value is string =>
  typeof value === 'string' && value.isWellFormed() && !value.includes('\0')

t.TypeRegistry.Set('Text', (_, value) => isText(value))

const text = (description: string, example: string) =>
  t.Unsafe<string>({
    [t.Kind]: 'Text',
    type: 'string',
    pattern: '^[^\\u0000]*$',
    description,
    examples: [example],
    error: 'expected a string without U+0000 and without unpaired surrogates',
  })

const Name = text('Name of the plant.', 'Monstera deliciosa')
export const Tag = text('Tag that specifies the type of the plant.', 'aroid')

/**
 * The texts that a plant may have besides its name, in the order of JSON, CSV and columns. The rest of the program
 * derives from this list; see "A new field of a plant" in docs/recipes.md.
 */
const OPTIONAL_SCHEMAS = {
  tag: Tag,
}
export type OptionalText = keyof typeof OPTIONAL_SCHEMAS
export const OPTIONAL_TEXTS = Object.keys(OPTIONAL_SCHEMAS) as readonly OptionalText[]

/** A value for each optional text. */
export const ofOptionalTexts = <T>(make: (name: OptionalText) => T) =>
  Object.fromEntries(OPTIONAL_TEXTS.map((name) => [name, make(name)])) as Record<OptionalText, T>

/** The fields besides the id, in the same order. */
export const TEXT_FIELDS = ['name', ...OPTIONAL_TEXTS] as const

export const FIELDS = ['id', ...TEXT_FIELDS] as const
export type Field = (typeof FIELDS)[number]

/** Words as an enumeration: "id, name and tag". */
export const listWords = (words: readonly string[], conjunction = 'and'): string =>
  words.join(', ').replace(/, ([^,]*)$/, ` ${conjunction} $1`)

const TEXT_SCHEMAS = {
  name: Name,
  ...ofOptionalTexts((name) => t.Optional(OPTIONAL_SCHEMAS[name])),
}
const OPTIONAL_WORDS = OPTIONAL_TEXTS.map((name) => `an optional ${name}`)
const PLANT_RULE = `expected an object with ${listWords(['name', ...OPTIONAL_WORDS])}`

export const PlantFields = t.Object(TEXT_SCHEMAS, {
  title: 'Plant',
  description: 'A plant as a create returns it.',
  error: PLANT_RULE,
})
export type PlantFields = typeof PlantFields.static

/** A plant as sent by clients and kept by the store. */
export const Plant = t.Object(
  { id: Int64, ...TEXT_SCHEMAS },
  {
    title: 'NewPlant',
    description: 'A plant with its id.',
    additionalProperties: undefined,
    error: `expected an object with ${listWords(['id', 'name', ...OPTIONAL_WORDS])}`,
  },
)
export type Plant = typeof Plant.static

/** The fields that replace those of a plant. An id must be the plant's own, or left out. */
export const Replacement = t.Object(
  { id: t.Optional(Int64), ...TEXT_SCHEMAS },
  {
    title: 'Replacement',
    description: 'All fields of a plant. The id, if sent, must be the one in the path.',
    additionalProperties: undefined,
    error: PLANT_RULE,
  },
)
export type Replacement = typeof Replacement.static

t.TypeRegistry.Set('TextOrNull', (_, value) => value === null || isText(value))

/** An optional text in a patch. */
const removable = (schema: t.TUnsafe<string>) =>
  t.Unsafe<string | null>({
    ...schema,
    [t.Kind]: 'TextOrNull',
    type: ['string', 'null'],
    description: String(schema.description).replace(/\.$/, '; null removes it.'),
  })

/** An object without other fields: a change or a guard that is misspelt must not be dropped. */
export const closed = <Fields extends t.TProperties>(fields: Fields, options: t.ObjectOptions) =>
  t.Object(fields, {
    error: `expected an object with any of ${Object.keys(fields)
      .filter((name) => name !== 'id')
      .join(', ')}`,
    ...options,
    additionalProperties: false,
    unknown: `unknown field; use ${listWords(Object.keys(fields), 'or')}`,
  })

const PATCH_SCHEMAS = {
  name: t.Optional(Name),
  ...ofOptionalTexts((name) => t.Optional(removable(OPTIONAL_SCHEMAS[name]))),
}

/** The fields changed by a patch (RFC 7396). An id must be the plant's own, or left out. */
export const PlantPatch = closed(
  { id: t.Optional(Int64), ...PATCH_SCHEMAS },
  {
    title: 'PlantPatch',
    description: 'The fields of a plant to change. The id, if sent, must be the one in the path.',
  },
)
export type PlantPatch = typeof PlantPatch.static

/** The fields that a plant must still have in order to be changed. */
const Was = closed(PATCH_SCHEMAS, {
  title: 'StoredFields',
  description: 'Fields that the plant must have, as they are stored; null for none.',
})

/** A change of one plant in a batch: the fields to change, and those that it must still have. */
export const PlantUpdate = closed(
  { id: Int64, ...PATCH_SCHEMAS, was: t.Optional(Was) },
  {
    title: 'PlantUpdate',
    description:
      'The fields of a plant to change. With `was`, it is changed only if it still has these fields.',
    error: `expected an object with id, and any of ${[...TEXT_FIELDS, 'was'].join(', ')}`,
  },
)
export type PlantUpdate = typeof PlantUpdate.static

/** The texts changed by a patch; null removes one. */
export type ChangedTexts = Readonly<Omit<PlantPatch, 'id'>>

/** A plant with only the fields of the schema; a text of null is left out. */
export function toNewPlant(id: Int64, fields: ChangedTexts & { readonly name: string }): Plant {
  const plant: Plant = { id, name: fields.name }
  for (const name of OPTIONAL_TEXTS) {
    const text = fields[name]
    if (typeof text === 'string') plant[name] = text
  }
  return plant
}

/** The characters of all texts. */
export function charactersOf(texts: ChangedTexts): number {
  let characters = 0
  for (const name of TEXT_FIELDS) characters += texts[name]?.length ?? 0
  return characters
}
