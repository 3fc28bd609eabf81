// Values -> rows: objects, the features of a map, arrays below their header, or texts, which are names.

import { parseExactly } from '../../plant/json'
import { expectation } from '../../plant/mismatch'
import { Plant } from '../../plant/plant'
import type { Line } from '../row'

const ARRAY = 'expected one plant object per line, found an array'
const NOT_JSON = 'not JSON'
/** The column of the key that leads to an object. */
export const KEY = 'key'

const isObject = (value: unknown): value is object =>
  typeof value === 'object' && value !== null && !Array.isArray(value)

/** The columns of an object; for a feature of a map (GeoJSON, RFC 7946), its properties. */
function cellsOf(value: object): object {
  if (!('type' in value) || value.type !== 'Feature') return value
  if (!('properties' in value) || !isObject(value.properties)) return value
  return 'id' in value ? { id: value.id, ...value.properties } : value.properties
}

const TEXT = /"(?:[^"\\\r\n]|\\.)*"/y
const isSpace = (character: string | undefined): boolean =>
  character !== undefined && /\s/.test(character)

/** True if every text in a broken value begins and ends where one may: no quote is missing, so the value's end is certain. */
function isBounded(text: string): boolean {
  // The previous character that is not space.
  let lastCharacter = ','
  for (let index = 0; index < text.length; index++) {
    const character = text[index] ?? ''
    if (character === '"') {
      TEXT.lastIndex = index
      if (!'{[,:'.includes(lastCharacter) || !TEXT.test(text)) return false
      index = TEXT.lastIndex
      while (isSpace(text[index])) index++
      if (!',:}]'.includes(text[index] ?? ',')) return false
      lastCharacter = text[index] ?? ','
    } else if (!isSpace(character)) lastCharacter = character
  }
  return true
}

/** The row of one of several values; a stop if the value is broken and its end is uncertain. */
export function toBoundedRow(line: number, text: string): Line {
  const row = toRow(line, text)
  if (!('problem' in row) || row.problem !== NOT_JSON || isBounded(text)) return row
  return { line, stop: 'not JSON; a quote may be missing' }
}

/** The row of a line's text. */
export function toRow(line: number, text: string): Line {
  let value: unknown
  try {
    value = parseExactly(text)
  } catch {
    return { line, problem: NOT_JSON, text }
  }
  if (isObject(value)) return { line, cells: cellsOf(value) }
  const problem = Array.isArray(value) ? ARRAY : expectation(Plant, value)
  return { line, problem, text }
}

/** True for texts that can be names of columns: distinct and not empty. */
const isHeader = (value: unknown): value is readonly string[] =>
  Array.isArray(value) &&
  value.length > 0 &&
  value.every((cell) => typeof cell === 'string' && cell !== '') &&
  new Set(value).size === value.length

/** The row of an array below a header. */
function toTableRow(line: number, text: string, header: readonly string[]): Line {
  const row = toRow(line, text)
  if (!('problem' in row) || row.problem !== ARRAY) return row
  const values: unknown = parseExactly(text)
  if (!Array.isArray(values)) return row
  if (values.length > header.length) {
    return { line, problem: `${values.length} values; the header has ${header.length}`, text }
  }
  return { line, cells: Object.fromEntries(values.map((value, index) => [header[index], value])) }
}

/** Returns a function that reads the values of a list. `key`: the key of a value in an object. */
export function createRowReader() {
  let header: readonly string[] | null = null
  let isFirst = true

  return (line: number, text: string, key: string | null): Line | null => {
    if (text.startsWith('"')) {
      const row = toRow(line, `{"name":${text}}`)
      return 'cells' in row ? row : { line, problem: NOT_JSON, text }
    }
    if (isFirst && text.startsWith('[')) {
      isFirst = false
      const firstValue = tryParse(text)
      if (isHeader(firstValue)) {
        header = firstValue
        return null
      }
    }
    isFirst = false
    if (header && text.startsWith('[')) return toTableRow(line, text, header)
    const row = toBoundedRow(line, text)
    return key === null || !('cells' in row) ? row : { line, cells: { [KEY]: key, ...row.cells } }
  }
}

function tryParse(text: string): unknown {
  try {
    return JSON.parse(text)
  } catch {
    return null
  }
}
