// Fields -> plants: what the schema takes, with ids given by place where a file has none.

import { Kind, TypeRegistry } from '@sinclair/typebox'
import { readInt64 } from '../plant/json'
import { fieldProblem } from '../plant/mismatch'
import {
  charactersOf,
  FIELDS,
  type Field,
  INT64_MAX,
  INT64_MIN,
  type Int64,
  NewPlant,
  OPTIONAL_TEXTS,
  toNewPlant,
} from '../plant/plant'
import { type Columns, normalize } from './columns'
import { type Entry, type Line, type NumberCell, type Row, showText } from './row'
import { nameCell } from './spreadsheet'
import type { Table } from './table'
import type { Words } from './words'

type Values = { readonly [field: string]: unknown }

// Not Elysia's validator, which is large, and compiles what the policy of a page forbids.
const fields = FIELDS.map((name) => {
  const schema = NewPlant.properties[name]
  const check = TypeRegistry.Get(schema[Kind])
  const isOptional = !NewPlant.required.some((required) => required === name)
  return {
    name,
    fits: ({ [name]: value }: Values) =>
      value === undefined ? isOptional : check?.(schema, value) === true,
    explain: (values: Values) => fieldProblem(name, values[name], schema),
  }
})

const isPlant = (values: Values): values is NewPlant => fields.every(({ fits }) => fits(values))

const LEADING_ZERO = /^\s*-?0\d/
const NO_DIGITS = /^\s*$/

/** The number of a cell: exact, or what is wrong with it. */
function readNumber({ number }: NumberCell): Int64 | string {
  const id = readInt64(number)
  if (id === null) return `${number} is not a whole number`
  if (id <= Number.MAX_SAFE_INTEGER && id >= Number.MIN_SAFE_INTEGER) return id
  return `${number} may have been rounded: format the column as text, and enter the id again`
}

const isNumberCell = (cell: unknown): cell is NumberCell =>
  typeof cell === 'object' && cell !== null && 'number' in cell

/** The text of a cell; undefined: it is empty. Values of JSON stay as they are. */
function toText(cell: unknown): unknown {
  if (cell === null || cell === undefined) return undefined
  return isNumberCell(cell) ? String(Number(cell.number)) : cell
}

/**
 * Reads the plants of a table, those of each part together. `onNotice` gets what a user should know about the file as a whole,
 * once.
 */
export async function* readPlants(
  { header, isNamed, format, lines }: Table,
  columns: Columns,
  words: Pick<Words, 'numbering'>,
  onNotice: (notice: string) => void,
): AsyncGenerator<readonly Entry[]> {
  const isJson = format === 'json' || format === 'ndjson'
  const { numberFrom } = columns
  let place = 0n
  let hasZeros = false

  const nameOf = (column: number): string => {
    const text = header[column] ?? ''
    return isNamed && normalize(text) !== '' ? showText(text.trim()) : `column ${column + 1}`
  }
  const inColumn = (column: number | undefined) =>
    column === undefined ? '' : ` in ${nameOf(column)}`

  /** The value of a column. */
  function cellOf({ cells }: Row, column: number): unknown {
    if (Array.isArray(cells)) return cells[column]
    const key = header[column] ?? ''
    return Object.hasOwn(cells, key) ? (cells as Values)[key] : undefined
  }

  /** The id of a row: a bigint, or what it has instead; undefined: nothing. */
  function idOf(row: Row): unknown {
    if (columns.id === null) return numberFrom === null ? undefined : numberFrom + place - 1n
    const cell = cellOf(row, columns.id)
    if (typeof cell === 'number') return Number.isSafeInteger(cell) ? BigInt(cell) : cell
    if (typeof cell !== 'string') return isNumberCell(cell) ? readNumber(cell) : (cell ?? undefined)
    if (!hasZeros && LEADING_ZERO.test(cell)) {
      hasZeros = true
      onNotice(
        `ids are numbers: ${cell.trim()} is ${readInt64(cell.trim()) ?? 'none'}, without its leading zeros`,
      )
    }
    return (
      readInt64(cell) ?? readInt64(cell.trim()) ?? (NO_DIGITS.test(cell) ? undefined : cell.trim())
    )
  }

  function explainId(id: unknown, row: Row): string | null {
    if (id === undefined || typeof id !== 'string') return null
    if (columns.id !== null && isNumberCell(cellOf(row, columns.id))) return `id: ${id}`
    if (/^-?\d+$/.test(id))
      return `id: ${id.slice(0, 40)} is beyond the range of ids, ${INT64_MIN} to ${INT64_MAX}`
    return `id: ${showText(id)} is not a whole number; ids must be whole numbers (use ${words.numbering} to number the rows)`
  }

  /** The cells beyond the header that are not empty. */
  function surplusOf({ cells }: Row): string | null {
    if (!isNamed || !Array.isArray(cells) || cells.length <= header.length) return null
    const last = cells.findLastIndex((cell) => toText(cell) !== undefined && cell !== '')
    return last < header.length ? null : `${last + 1} fields; the header has ${header.length}`
  }

  /** Where a workbook has nothing. */
  const at = (row: Row, column: number | null) =>
    format === 'xlsx' && column !== null
      ? ` (cell ${nameCell(row.line, column)} is empty, or a formula without a stored value)`
      : ''

  function toEntry(line: Line): Entry {
    if ('stop' in line) return { line: line.line, stop: `${line.stop}${inColumn(line.column)}` }
    place += 1n
    if ('problem' in line) {
      return { line: line.line, problem: `${line.problem}${inColumn(line.column)}`, source: line }
    }
    const refuse = (problem: string): Entry => ({ line: line.line, problem, source: line })
    const surplus = surplusOf(line)
    if (surplus !== null) return refuse(surplus)
    const id = idOf(line)
    const value: { [Name in Field]?: unknown } = { id }
    const name = cellOf(line, columns.name)
    // JSON says of what type a value is: null is no text.
    value.name = isJson ? name : toText(name)
    for (const optional of OPTIONAL_TEXTS) {
      const column = columns[optional]
      const text = column === null ? undefined : toText(cellOf(line, column))
      if (text !== undefined) value[optional] = text
    }
    if (isPlant(value)) return { line: line.line, plant: toNewPlant(value.id, value), source: line }
    const wrong = fields
      .filter(({ fits }) => !fits(value))
      .map(({ name, explain }) => {
        const words = (name === 'id' ? explainId(id, line) : null) ?? explain(value)
        return value[name] === undefined ? words + at(line, columns[name]) : words
      })
    return refuse(wrong.join('; '))
  }

  for await (const part of lines) yield part.map(toEntry)
}

// The store queues no more than 8 million characters.
const AT_ONCE = 1000
const CHARACTERS_AT_ONCE = 4_000_000

/** Groups of at most 1000 entries and 4 million characters; only a single entry may have more. */
export async function* grouped(parts: AsyncIterable<readonly Entry[]>): AsyncGenerator<Entry[]> {
  let group: Entry[] = []
  let characters = 0
  for await (const entries of parts) {
    for (const entry of entries) {
      const more = 'plant' in entry ? charactersOf(entry.plant) : 0
      const isTooMuch = characters + more > CHARACTERS_AT_ONCE && group.length > 0
      if (group.length === AT_ONCE || isTooMuch) {
        yield group
        group = []
        characters = 0
      }
      group.push(entry)
      characters += more
    }
  }
  if (group.length > 0) yield group
}
