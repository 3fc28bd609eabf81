// Rows -> fields: which columns hold the fields of a plant, by options or by their usual names.

import { type Int64, OPTIONAL_TEXTS, type OptionalText, ofOptionalTexts } from '../plant/plant'
import { guessTable, type TableHeader } from './guess'
import {
  type ColumnOptions,
  listColumns,
  MAX_TO_CHOOSE,
  normalize,
  ofColumnOptions,
  optionOf,
} from './header'
import { Question } from './question'
import { showText } from './row'
import type { Table } from './table'

/** The columns of the fields, as indexes. `id`: null if rows are numbered; an optional text: null if it has none. */
export type Columns = {
  readonly id: number | null
  readonly numberFrom: Int64 | null
  readonly name: readonly number[]
} & { readonly [Name in OptionalText]: number | null }

/** The columns that are read. */
export const usedColumns = (columns: Columns): ReadonlySet<number | null> =>
  new Set([columns.id, ...columns.name, ...OPTIONAL_TEXTS.map((name) => columns[name])])

/** The columns with a heading; if there is none, and it `isNumber`, the column of this number, from 1. */
function columnsNamed(
  { header, isNamed }: Pick<Table, 'header' | 'isNamed'>,
  heading: string,
  isNumber: boolean,
): readonly number[] {
  const normalizedHeading = normalize(heading)
  if (normalizedHeading === '') return []
  const columnsWhere = (matches: (other: string) => boolean) =>
    [...header.keys()].filter((column) => matches(header[column] ?? ''))
  // Keys of JSON differ by case, so an exact match wins.
  const exact = columnsWhere((other) => other === heading)
  if (exact.length > 0) return exact
  const sameName = isNamed ? columnsWhere((other) => normalize(other) === normalizedHeading) : []
  if (sameName.length > 0) return sameName
  const number = isNumber && /^\d{1,5}$/.test(normalizedHeading) ? Number(normalizedHeading) : 0
  return number >= 1 && number <= header.length ? [number - 1] : []
}

/** The question about a table whose columns do not fit. What the user has named stays, if it can be right. */
function askForColumns(table: TableHeader, options: ColumnOptions, reason: string): never {
  const { settings, columns: guess } = guessTable(table)
  if (guess === null) throw new Question(reason, settings)
  // In another header, or without one, the columns of the user may be right.
  const isOther = Object.keys(settings).length > 0
  const fits = (column: string) => isOther || columnsNamed(table, column, true).length === 1
  const ifFits = (column: string | null) => (column !== null && fits(column) ? column : null)
  const { numberFrom } = options
  const idColumn = numberFrom === null ? (ifFits(options.idColumn) ?? guess.idColumn) : null
  throw new Question(reason, settings, {
    idColumn,
    numberFrom: numberFrom ?? (idColumn === null ? guess.numberFrom : null),
    nameColumn: options.nameColumn?.every(fits) ? options.nameColumn : guess.nameColumn,
    ...ofColumnOptions((text) => ifFits(options[optionOf(text)]) ?? guess[optionOf(text)]),
  })
}

/** The delimiter, list or sheet of a table. */
function describe({ delimiter, list, sheet, sheets }: TableHeader): string {
  if (delimiter !== null) return ` separated by ${JSON.stringify(delimiter)}`
  if (list !== null) return ` in the list ${showText(list)}`
  const others = sheets.filter((name) => name !== sheet).map((name) => JSON.stringify(name))
  if (others.length === 0) return ''
  return ` in sheet ${JSON.stringify(sheet)}; other sheets: ${others.join(', ')}`
}

/** Finds the columns of a table. Throws a {@link Question} if they do not fit. */
export function resolveColumns(table: TableHeader, options: ColumnOptions): Columns {
  const { header } = table
  const fail = (reason: string): never =>
    askForColumns(
      table,
      options,
      `${reason}; found ${listColumns(header, undefined, MAX_TO_CHOOSE)}${describe(table)}`,
    )

  /** The column with a heading, or null if there is none. */
  function findColumn(heading: string, isNumber: boolean): number | null {
    const columns = columnsNamed(table, heading, isNumber)
    const [column = null] = columns
    if (column === null || columns.length === 1) return column
    const other = columns.at(-1) ?? column
    return fail(
      `columns ${column + 1} and ${other + 1} are both ${showText(heading)}; name one by its number`,
    )
  }

  const requireColumn = (option: string | null, usual: string): number =>
    (option === null ? findColumn(usual, false) : findColumn(option, true)) ??
    fail(`no column ${showText(option ?? usual)}`)

  const { numberFrom, nameColumn } = options
  // A missing name tells more about a file than a missing id.
  const name =
    nameColumn === null
      ? [requireColumn(null, 'name')]
      : nameColumn.map((column) => requireColumn(column, ''))
  const id = numberFrom === null ? requireColumn(options.idColumn, 'id') : null
  const optional = ofOptionalTexts((text) => {
    const option = options[optionOf(text)]
    return option === null ? findColumn(text, false) : requireColumn(option, text)
  })
  return { id, numberFrom, name, ...optional }
}
