// Rows -> fields: which columns hold the fields of a plant, by options or by their usual names.

import { OpenError } from '../errors'
import { type Int64, OPTIONAL_TEXTS, type OptionalText, ofOptionalTexts } from '../plant/plant'
import { type Guess, guessTable } from './guess'
import { type ColumnOptions, listColumns, MAX_TO_CHOOSE, normalize, optionOf } from './header'
import { type FileRow, showText } from './row'

/** The columns of the fields, as indexes. `id`: null if rows are numbered; an optional text: null if it has none. */
export type Columns = {
  readonly id: number | null
  readonly numberFrom: Int64 | null
  readonly name: readonly number[]
} & { readonly [Name in OptionalText]: number | null }

/** The columns do not fit: why, and a guess at what was meant. */
export class ColumnsError extends OpenError {
  constructor(
    message: string,
    readonly guess: Guess,
  ) {
    super(message)
  }
}

/** The columns that are read. */
export const usedColumns = (columns: Columns): ReadonlySet<number | null> =>
  new Set([columns.id, ...columns.name, ...OPTIONAL_TEXTS.map((name) => columns[name])])

/** The columns with a heading; if there is none, and it `isNumber`, the column of this number, from 1. */
export function columnsNamed(
  header: readonly string[],
  heading: string,
  isNumber: boolean,
  isNamed: boolean,
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

/**
 * Finds the columns of a file. `sample`: its first rows, for a guess. `description`: how its columns were separated, for the
 * message. Throws a {@link ColumnsError} if they do not fit.
 */
export function resolveColumns(
  header: readonly string[],
  sample: readonly FileRow[],
  options: ColumnOptions,
  isNamed = true,
  description = '',
): Columns {
  const fail = (reason: string): never => {
    throw new ColumnsError(
      `${reason}; found ${listColumns(header, undefined, MAX_TO_CHOOSE)}${description}`,
      guessTable(header, sample, isNamed),
    )
  }

  /** The column with a heading; null: there is none. */
  function findColumn(heading: string, isNumber: boolean): number | null {
    const columns = columnsNamed(header, heading, isNumber, isNamed)
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
