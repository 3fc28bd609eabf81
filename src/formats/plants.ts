// Fields -> plants, checked by the schema. Rows are numbered if the file has no ids.

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
  OPTIONAL_TEXTS,
  Plant,
  TEXT_FIELDS,
  toNewPlant,
} from '../plant/plant'
import type { Advice } from './advice'
import { type Columns, usedColumns } from './columns'
import { isObject, normalize, soleText, valueAt } from './header'
import {
  type Entry,
  type ErrorCell,
  type FileRow,
  isRounded,
  type Line,
  type NumberCell,
  showText,
} from './row'
import type { Table } from './table'
import { createTrimmer } from './workbook/unnamed-columns'
import { nameCell } from './workbook/workbook'

type Values = { readonly [field: string]: unknown }

// Not Elysia's validator, which is large, and compiles what the policy of a page forbids.
const FIELD_CHECKS = FIELDS.map((name) => {
  const schema = Plant.properties[name]
  const check = TypeRegistry.Get(schema[Kind])
  const isOptional = !Plant.required.some((requiredName) => requiredName === name)
  return {
    name,
    fits: ({ [name]: value }: Values) =>
      value === undefined ? isOptional : check?.(schema, value) === true,
    explain: (value: unknown) => fieldProblem(name, value, schema),
  }
})

const isPlant = (values: Values): values is Plant => FIELD_CHECKS.every(({ fits }) => fits(values))

const LEADING_ZERO = /^\s*-?0\d/
// A dot of decimals in one country is one of thousands in another.
const THOUSANDS = /^\s*(-?\d{1,3})\.000\s*$/
const NO_DIGITS = /^\s*$/

const explainRounded = (number: string): string =>
  `${number} may have been rounded: format the column as text, and enter the id again`

/** The exact number of a cell, or the problem with it. */
function readNumber({ number }: NumberCell): Int64 | string {
  const id = readInt64(number)
  if (id === null) return `${number} is not a whole number`
  const isExact = id <= Number.MAX_SAFE_INTEGER && id >= Number.MIN_SAFE_INTEGER
  return isExact ? id : explainRounded(number)
}

const isNumberCell = (cell: unknown): cell is NumberCell => isObject(cell) && 'number' in cell
const isErrorCell = (cell: unknown): cell is ErrorCell => isObject(cell) && 'error' in cell

/** The text of a table's cell, or undefined if it is empty. */
function toText(cell: unknown): unknown {
  if (cell === null || cell === undefined) return undefined
  // A format may hide a number, such as zeros.
  return isNumberCell(cell) ? cell.text || undefined : cell
}

/** A table, and the columns of its plants. */
type Source = Omit<Table, 'lines'> & { readonly columns: Columns; readonly isJson: boolean }

/** A later object of JSON may have an optional text that has no column yet. */
function sourceOf(table: Omit<Table, 'lines'>, columns: Columns): Source {
  const { header, format, isKeyed } = table
  const names = header.map(normalize)
  const late = OPTIONAL_TEXTS.filter(
    (name) => isKeyed && columns[name] === null && !names.includes(name),
  )
  const lateColumns = late.map((name, index) => [name, header.length + index])
  return {
    ...table,
    header: [...header, ...late],
    columns: { ...columns, ...Object.fromEntries(lateColumns) },
    isJson: format === 'json' || format === 'ndjson',
  }
}

function nameOf({ header, isNamed }: Source, column: number): string {
  const text = header[column] ?? ''
  return isNamed && normalize(text) !== '' ? showText(text.trim()) : `column ${column + 1}`
}

const inColumn = (source: Source, column: number | undefined): string =>
  column === undefined ? '' : ` in ${nameOf(source, column)}`

/** The value of a column; null if its text marks an empty cell. */
function cellOf({ header, nullTexts }: Source, { cells }: FileRow, column: number): unknown {
  const cell = Array.isArray(cells) ? cells[column] : soleText(valueAt(cells, header[column] ?? ''))
  return nullTexts?.includes(cell) ? null : cell
}

/** The id in a column: a bigint, the invalid value, or undefined if the cell is empty. */
function idOf(source: Source, row: FileRow, column: number): unknown {
  const cell = cellOf(source, row, column)
  if (typeof cell === 'number') return Number.isSafeInteger(cell) ? BigInt(cell) : cell
  if (typeof cell !== 'string') {
    return !source.isJson && isNumberCell(cell) ? readNumber(cell) : (cell ?? undefined)
  }
  if ((cell.includes('.000') && THOUSANDS.test(cell)) || isRounded(cell)) return cell.trim()
  return (
    readInt64(cell) ?? readInt64(cell.trim()) ?? (NO_DIGITS.test(cell) ? undefined : cell.trim())
  )
}

/** The name in a column, or in several: their texts, joined by a space, without empty ones. */
function joinName(source: Source, row: FileRow, columns: readonly number[]): unknown {
  const cells = columns.map((column) => toText(cellOf(source, row, column)))
  const other = cells.find((cell) => cell !== undefined && typeof cell !== 'string')
  if (other !== undefined) return other
  const texts = cells.map((cell) => (cell === undefined ? '' : String(cell).trim()))
  return texts.filter((text) => text !== '').join(' ') || undefined
}

/** The fields of a row, unchecked. */
function valuesOf(source: Source, row: FileRow, id: unknown): Values {
  const { columns, isJson } = source
  const [first = 0, second] = columns.name
  // JSON values have types: null is no text.
  const valueIn = (column: number) =>
    isJson ? cellOf(source, row, column) : toText(cellOf(source, row, column))
  const name = second === undefined ? valueIn(first) : joinName(source, row, columns.name)
  const values: { [Name in Field]?: unknown } = { id, name }
  for (const optional of OPTIONAL_TEXTS) {
    const column = columns[optional]
    const text = column === null ? undefined : (valueIn(column) ?? undefined)
    if (text !== undefined) values[optional] = text
  }
  return values
}

function explainId(
  source: Source,
  row: FileRow,
  id: unknown,
  { numbering }: Advice,
): string | null {
  if (typeof id !== 'string') return null
  const { columns, isJson } = source
  if (!isJson && columns.id !== null && isNumberCell(cellOf(source, row, columns.id)))
    return `id: ${id}`
  if (isRounded(id)) return `id: ${explainRounded(id)}`
  const [, thousands] = THOUSANDS.exec(id) ?? []
  if (thousands !== undefined)
    return `id: ${showText(id)} may be ${thousands} or ${thousands}000; write it without the dot`
  if (/^-?\d+$/.test(id))
    return `id: ${id.slice(0, 40)} is beyond the range of ids, ${INT64_MIN} to ${INT64_MAX}`
  return `id: ${showText(id)} is not a whole number; ids must be whole numbers (${numbering})`
}

/** The cells beyond the header that are not empty. */
function explainSurplus({ header, isNamed }: Source, { cells }: FileRow): string | null {
  if (!isNamed || !Array.isArray(cells) || cells.length <= header.length) return null
  const last = cells.findLastIndex((cell) => toText(cell) !== undefined && cell !== '')
  return last < header.length ? null : `${last + 1} fields; the header has ${header.length}`
}

/** The problem of a field; a workbook's cell with an error, or without a value, is named. */
function explainField(
  source: Source,
  row: FileRow,
  values: Values,
  { name, explain }: (typeof FIELD_CHECKS)[number],
  advice: Advice,
): string {
  const { columns, format } = source
  const value = values[name]
  const problem = (name === 'id' ? explainId(source, row, value, advice) : null) ?? explain(value)
  if (format !== 'xlsx') return problem
  const fieldColumns = [columns[name]].flat().filter((column) => column !== null)
  for (const column of fieldColumns) {
    const cell = cellOf(source, row, column)
    if (isErrorCell(cell)) return `${name}: ${cell.error} in cell ${nameCell(row.line, column)}`
  }
  const [column] = fieldColumns
  return column === undefined || value !== undefined
    ? problem
    : `${problem}: cell ${nameCell(row.line, column)} is empty`
}

const explain = (source: Source, row: FileRow, values: Values, advice: Advice): string =>
  FIELD_CHECKS.filter(({ fits }) => !fits(values))
    .map((check) => explainField(source, row, values, check, advice))
    .join('; ')

/** Notices about a file, each once: with the line of the first row, or the number of rows. */
class Notices {
  readonly #kinds = new Map<string, { count: number; explain: (count: number) => string }>()

  /** Notes a row. The explanation of the first one of a kind counts. */
  add(kind: string, explain: (count: number) => string): void {
    const notice = this.#kinds.get(kind) ?? { count: 0, explain }
    notice.count += 1
    this.#kinds.set(kind, notice)
  }

  list = (): string[] => [...this.#kinds.values()].map(({ count, explain }) => explain(count))
}

/** Whole cells that mark missing values in the files of R, MySQL and spreadsheets. */
const MISSING = /^(NA|N\/A|NULL|\\N)$/

/** Returns a function that notes what is stored in another way than the row may mean. */
function createWatch(source: Source, notices: Notices, { missing, count }: Advice) {
  const { header, isKeyed, columns } = source
  const knownKeys = new Set(header.flatMap((heading) => [heading, heading.replace(/\..*/s, '')]))
  return (row: FileRow, values: Values): void => {
    const { cells, line } = row
    const id = columns.id === null ? null : cellOf(source, row, columns.id)
    if (typeof id === 'string' && LEADING_ZERO.test(id)) {
      const text = id.trim()
      const number = readInt64(text)
      if (number !== null)
        notices.add('zeros', () => `leading zeros are dropped: ${text} becomes ${number}`)
    }
    for (const name of TEXT_FIELDS) {
      const text = values[name]
      if (typeof text !== 'string') continue
      if (text !== text.trim())
        notices.add(
          'space',
          () => `line ${line}: the space around the ${name} ${showText(text)} is part of it`,
        )
      if (text.length < 5 && MISSING.test(text))
        notices.add(
          text,
          (cells) =>
            `${text} is stored as text in ${count(cells)} ${cells === 1 ? 'cell' : 'cells'}; ${missing(text)}`,
        )
    }
    if (!isKeyed) return
    for (const key in cells) {
      if (!knownKeys.has(key))
        notices.add(
          'key',
          () => `line ${line}: the key ${showText(key)} comes first here; it is not used`,
        )
    }
  }
}

/** Returns a test for rows of cells without a plant: nothing in the columns that are read, or the header again. */
function createSkipTest(source: Source): (row: FileRow) => boolean {
  const { header, isNamed, columns } = source
  const used = [...usedColumns(columns)].filter((column) => column !== null)
  const names = header.map(normalize)
  return (row) => {
    const { cells } = row
    if (!Array.isArray(cells)) return false
    const isEmpty = used.every((column) => {
      const text = toText(cellOf(source, row, column))
      return text === undefined || (typeof text === 'string' && text.trim() === '')
    })
    return (
      isEmpty ||
      (isNamed && names.every((name, column) => normalize(String(cells[column] ?? '')) === name))
    )
  }
}

/** Reads the plants of a table, an array per part. `onNotice` gets notices about the file as a whole at its end. */
export async function* readPlants(
  table: Omit<Table, 'lines'> & { readonly lines: AsyncIterable<readonly Line[]> },
  columns: Columns,
  advice: Advice,
  onNotice: (notice: string) => void,
): AsyncGenerator<readonly Entry[]> {
  const source = sourceOf(table, columns)
  const { id: idColumn, numberFrom } = columns
  const isSheet = table.format === 'xlsx' && table.isNamed
  const trimmer = createTrimmer(table.header.length)
  const notices = new Notices()
  const watch = createWatch(source, notices, advice)
  const isSkipped = createSkipTest(source)
  let rowCount = 0

  function toEntry(input: Line): Entry | null {
    const line = isSheet && 'cells' in input ? trimmer.trim(input) : input
    if (line === null) return null
    if ('cells' in line && isSkipped(line)) {
      notices.add('skipped', (rows) =>
        rows === 1
          ? `1 row without a plant was skipped: line ${line.line}`
          : `${advice.count(rows)} rows without a plant were skipped, the first in line ${line.line}`,
      )
      return null
    }
    if ('stop' in line) {
      return { line: line.line, stop: `${line.stop}${inColumn(source, line.column)}` }
    }
    const row = { line: line.line, rowIndex: rowCount++ }
    if ('problem' in line) {
      const problem = `${line.problem}${inColumn(source, line.column)}`
      return { ...row, problem, source: line }
    }
    const surplus = explainSurplus(source, line)
    if (surplus !== null) return { ...row, problem: surplus, source: line }
    const numberedId = numberFrom === null ? undefined : numberFrom + BigInt(row.rowIndex)
    const id = idColumn === null ? numberedId : idOf(source, line, idColumn)
    const values = valuesOf(source, line, id)
    watch(line, values)
    if (isPlant(values)) return { ...row, plant: toNewPlant(values.id, values), source: line }
    return { ...row, problem: explain(source, line, values, advice), source: line }
  }

  for await (const part of table.lines) {
    yield part.map(toEntry).filter((entry) => entry !== null)
  }
  const { hiddenRows } = table
  if (hiddenRows > 0)
    notices.add('hidden', () => `hidden rows are read too: ${advice.count(hiddenRows)}`)
  for (const text of [...notices.list(), ...trimmer.explain()]) onNotice(text)
}

// The store queues no more than 8 million characters.
const GROUP_ENTRIES = 1000
const GROUP_CHARACTERS = 4_000_000
// Parts are limited to 64 KB, or one row: unused columns need memory too.
const GROUP_PARTS = 64

/**
 * Groups of at most 1000 entries and 4 million characters, read from at most 64 parts; only a single entry may have more
 * characters.
 */
export async function* groupEntries(
  parts: AsyncIterable<readonly Entry[]>,
): AsyncGenerator<Entry[]> {
  let group: Entry[] = []
  let characters = 0
  let partCount = 0
  function take(): Entry[] {
    const whole = group
    group = []
    characters = 0
    partCount = 0
    return whole
  }
  for await (const entries of parts) {
    for (const entry of entries) {
      const more = 'plant' in entry ? charactersOf(entry.plant) : 0
      const isTooMuch = characters + more > GROUP_CHARACTERS && group.length > 0
      if (group.length === GROUP_ENTRIES || isTooMuch) yield take()
      group.push(entry)
      characters += more
    }
    partCount += 1
    if (partCount >= GROUP_PARTS && group.length > 0) yield take()
  }
  if (group.length > 0) yield group
}
