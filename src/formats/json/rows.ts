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

/** A number that Python writes, and JSON has not. */
const NO_NUMBER = /-?\b(NaN|Infinity)\b/
const ANY_TEXT = /"(?:[^"\\]|\\.)*"/g

function explainBroken(text: string): string {
  const [number] = NO_NUMBER.exec(text.replace(ANY_TEXT, '""')) ?? []
  return number === undefined ? NOT_JSON : `${NOT_JSON}: ${number}; write null instead`
}

/** The row of a value's text. */
function toRow(line: number, text: string): FileRow | Unreadable {
  let value: unknown
  try {
    value = parseExactly(text)
  } catch {
    return { line, problem: explainBroken(text), text }
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
      const isBroken = row.problem.startsWith(NOT_JSON) && shape !== 'lines' && !isName
      if (isBroken && !isBounded(text)) return { line, stop: 'not JSON; a quote may be missing' }
      return { ...row, text }
    }
    const isArray = Array.isArray(row.cells)
    areCells ??= isArray
    if (isArray && !areCells) return { line, problem: ARRAY, text }
    return key === null || isArray ? row : { line, cells: { [KEY]: key, ...row.cells } }
  }
}
