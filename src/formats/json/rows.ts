// Values -> rows: objects, the features of a map, arrays of cells, or texts, which are names.

import { parseExactly } from '../../plant/json'
import { expectation } from '../../plant/mismatch'
import { Plant } from '../../plant/plant'
import { isObject } from '../header'
import type { FileRow, Line, Unreadable } from '../row'
import type { Shape } from './shape'

const ARRAY = 'expected one plant object per line, found an array'
const NOT_JSON = 'not JSON'
/** The column of the key that leads to an object. */
export const KEY = 'key'

/** The columns of an object; for a feature of a map (GeoJSON, RFC 7946), its properties. */
function cellsOf(value: object): object {
  if (!('type' in value) || value.type !== 'Feature') return value
  if (!('properties' in value) || !isObject(value.properties)) return value
  return 'id' in value ? { id: value.id, ...value.properties } : value.properties
}

/** The texts of a value, and the numbers that Python writes for missing ones, which JSON has not. */
const TEXT_OR_NAN = /"(?:[^"\\]|\\.)*"|-?\b(?:NaN|Infinity)\b/g

/** Parses JSON; NaN is null. */
function parseValue(text: string): unknown {
  try {
    return parseExactly(text)
  } catch {
    return parseExactly(text.replace(TEXT_OR_NAN, (part) => (part[0] === '"' ? part : 'null')))
  }
}

/** The row of a value's text. */
function toRow(line: number, text: string): FileRow | Unreadable {
  let value: unknown
  try {
    value = parseValue(text)
  } catch {
    return { line, problem: NOT_JSON, text }
  }
  if (Array.isArray(value)) return { line, cells: value }
  if (isObject(value)) return { line, cells: cellsOf(value) }
  return { line, problem: expectation(Plant, value), text }
}

/**
 * Returns a function that reads values as rows: objects, or arrays if the first is one. `key`: the key of a value in an
 * object.
 */
export function createRowReader(shape: Shape) {
  let areCells: boolean | null = null

  return (line: number, text: string, key: string | null): Line => {
    const isName = typeof shape === 'object' && text.startsWith('"')
    const row = toRow(line, isName ? `{"name":${text}}` : text)
    if ('problem' in row) {
      // Only a line certainly ends where it seems to.
      return row.problem === NOT_JSON && shape !== 'lines'
        ? { line, stop: NOT_JSON }
        : { ...row, text }
    }
    const isArray = Array.isArray(row.cells)
    areCells ??= isArray
    if (isArray && !areCells) return { line, problem: ARRAY, text }
    return key === null || isArray ? row : { line, cells: { [KEY]: key, ...row.cells } }
  }
}
