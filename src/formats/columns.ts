// Rows -> fields: which columns hold the fields of a plant, by options or by their usual names.

import { OpenError } from '../errors'
import { type Int64, OPTIONAL_TEXTS, type OptionalText, ofOptionalTexts } from '../plant/plant'
import { type Guess, guessTable } from './guess'
import { type ColumnOptions, listColumns, MAX_TO_CHOOSE, normalize, optionOf } from './header'
import { type FileRow, showText } from './row'

/** The columns of the fields, by their places. `id`: null if rows are numbered; an optional text: null if there is none. */
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

/** The places of the columns that hold plants. */
export const usedColumns = (columns: Columns): ReadonlySet<number | null> =>
  new Set([columns.id, ...columns.name, ...OPTIONAL_TEXTS.map((name) => columns[name])])

/** The places of the columns with a text; if there are none and it `isNumber`, of the one with this number, from 1. */
export function placesOf(
  header: readonly string[],
  text: string,
  isNumber: boolean,
  isNamed: boolean,
): readonly number[] {
  const normalizedText = normalize(text)
  if (normalizedText === '') return []
  const placesWhere = (is: (heading: string) => boolean) =>
    [...header.keys()].filter((place) => is(header[place] ?? ''))
  // Keys of JSON differ by case, so an exact match wins.
  const exact = placesWhere((heading) => heading === text)
  if (exact.length > 0) return exact
  const sameName = isNamed ? placesWhere((heading) => normalize(heading) === normalizedText) : []
  if (sameName.length > 0) return sameName
  const number = isNumber && /^\d{1,5}$/.test(normalizedText) ? Number(normalizedText) : 0
  return number >= 1 && number <= header.length ? [number - 1] : []
}

/**
 * Finds the columns of a file. `sample`: its first rows, for a guess. `described`: how its columns were told apart, for the
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

  /** The place of a column; null: there is none. */
  function find(text: string, isNumber: boolean): number | null {
    const places = placesOf(header, text, isNumber, isNamed)
    const [place = null] = places
    if (place === null || places.length === 1) return place
    const other = places.at(-1) ?? place
    return fail(
      `columns ${place + 1} and ${other + 1} are both ${showText(text)}; name one by its number`,
    )
  }

  const need = (option: string | null, usual: string): number =>
    (option === null ? find(usual, false) : find(option, true)) ??
    fail(`no column ${showText(option ?? usual)}`)

  const { numberFrom, nameColumn } = options
  // A missing name tells more about a file than a missing id.
  const name =
    nameColumn === null ? [need(null, 'name')] : nameColumn.map((column) => need(column, ''))
  const id = numberFrom === null ? need(options.idColumn, 'id') : null
  const optional = ofOptionalTexts((text) => {
    const option = options[optionOf(text)]
    return option === null ? find(text, false) : need(option, text)
  })
  return { id, numberFrom, name, ...optional }
}
