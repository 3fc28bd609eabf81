// The header of a table: its columns as they are compared, and as users read and write them.

import { type Int64, OPTIONAL_TEXTS, type OptionalText } from '../plant/plant'
import { type FileRow, showText } from './row'

/** Columns by their texts, or by their numbers from 1; null for the usual names. */
export type ColumnOptions = {
  readonly idColumn: string | null
  /** A name may be in several columns, such as genus and species. */
  readonly nameColumn: readonly string[] | null
  /** The id of the first row, if rows are numbered. */
  readonly numberFrom: Int64 | null
} & { readonly [Name in OptionalText as `${Name}Column`]: string | null }

/** The option of an optional text. */
export const optionOf = <Name extends OptionalText>(name: Name): `${Name}Column` => `${name}Column`

/** A value for the option of each optional text. */
export const ofColumnOptions = <T>(make: (name: OptionalText) => T) =>
  Object.fromEntries(OPTIONAL_TEXTS.map((name) => [optionOf(name), make(name)])) as {
    readonly [Name in OptionalText as `${Name}Column`]: T
  }

const MAX_LISTED = 12
/** Maximum number of columns listed for a choice. */
export const MAX_TO_CHOOSE = 100

/** Header text for comparison: trimmed, lower case, invisible characters removed. */
export const normalize = (text: string): string =>
  text
    .replace(/[\p{Cf}\p{Cc}]/gu, '')
    .trim()
    .toLowerCase()

/** A column as users read it: its heading, or else its number. */
const showColumn = (text: string, column: number): string =>
  normalize(text) === '' ? `column ${column + 1}` : showText(text.trim())

/** Columns as users read them. */
export function listColumns(
  header: readonly string[],
  columns = [...header.keys()],
  maxListed = MAX_LISTED,
): string {
  const names = columns
    .slice(0, maxListed)
    .map((column) => showColumn(header[column] ?? '', column))
  const more = columns.length - names.length
  return more > 0 ? `${names.join(', ')} and ${more} more` : names.join(', ')
}

/** The texts of a row's cells in the order of columns. */
export function cellsOf({ cells }: FileRow, header: readonly string[]): readonly unknown[] {
  if (Array.isArray(cells)) return cells
  return header.map((key) => valueAt(cells, key))
}

/** True if rows have cells by position; rows of JSON may be objects. */
export const hasCells = (rows: readonly FileRow[]): boolean =>
  rows.every(({ cells }) => Array.isArray(cells))

export const isObject = (value: unknown): value is object =>
  typeof value === 'object' && value !== null && !Array.isArray(value)

/** The value of a JSON column, which is a key, or keys joined by dots. */
export function valueAt(cells: object, column: string): unknown {
  if (Object.hasOwn(cells, column)) return (cells as Record<string, unknown>)[column]
  for (let dot = column.indexOf('.'); dot >= 0; dot = column.indexOf('.', dot + 1)) {
    const key = column.slice(0, dot)
    const inner = Object.hasOwn(cells, key) ? (cells as Record<string, unknown>)[key] : undefined
    const value = isObject(inner) ? valueAt(inner, column.slice(dot + 1)) : undefined
    if (value !== undefined) return value
  }
  return undefined
}

/** The maximum depth of objects whose keys are columns. */
const MAX_DEPTH = 4

/** The columns of a JSON object: its keys; keys of nested objects are joined by dots. */
export const columnsOf = (cells: object, depth = 1): string[] =>
  Object.entries(cells).flatMap(([key, value]) => {
    const inner = depth < MAX_DEPTH && isObject(value) ? columnsOf(value, depth + 1) : []
    return inner.length === 0 ? [key] : inner.map((column) => `${key}.${column}`)
  })

/** The columns of objects, in order of appearance. */
export const columnsOfRows = (rows: readonly FileRow[]): string[] => [
  ...new Set(rows.flatMap(({ cells }) => columnsOf(cells))),
]

/** The last key of a JSON column. */
export const lastKey = (column: string): string => column.slice(column.lastIndexOf('.') + 1)

/** The text of a JSON list that has no other value; any other value unchanged. */
export const soleText = (value: unknown): unknown =>
  Array.isArray(value) && value.length === 1 && typeof value[0] === 'string' ? value[0] : value

/** A column as options name it: by its heading, or by its number if the heading is not unique. */
export function columnReference(
  header: readonly string[],
  column: number,
  isNamed: boolean,
): string {
  if (!isNamed) return String(column + 1)
  const text = (header[column] ?? '').trim()
  const isAlone = header.filter((heading) => normalize(heading) === normalize(text)).length === 1
  return isAlone && normalize(text) !== '' && /^[\P{C}]+$/u.test(text) ? text : String(column + 1)
}
