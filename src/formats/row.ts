// Rows of a file, and the plants made of them: the values between the steps of reading.

import type { Plant } from '../plant/plant'

/** A number in a spreadsheet's cell: as its file has it, and as the cell shows it. */
export type NumberCell = { readonly number: string; readonly text: string }

/** An error in a spreadsheet's cell, such as #N/A. */
export type ErrorCell = { readonly error: string }

/** A cell of a table, or null if it is empty. */
export type Cell = string | NumberCell | ErrorCell | null

/** The cells of a row by column; for JSON, the object whose keys are columns. */
export type FileRow = {
  /** Counted from 1; the last line of a CSV record that has several. */
  readonly line: number
  readonly cells: readonly Cell[] | object
}

/** A row that cannot be read: the problem, its column if known, and the text. */
export type Unreadable = {
  readonly line: number
  readonly problem: string
  readonly column?: number
  readonly text: string
}

/** The line from which a file cannot be read, and the reason. Nothing follows it. */
type Stop = { readonly line: number; readonly stop: string; readonly column?: number }

export type Line = FileRow | Unreadable | Stop

/** `rowIndex`: the number of rows before it, read or not. */
type Row = { readonly line: number; readonly rowIndex: number }

/** A row of a file: its plant, or its problem. */
export type RowEntry =
  | (Row & { readonly plant: Plant; readonly source: FileRow })
  | (Row & { readonly problem: string; readonly source: FileRow | Unreadable })

const EXPONENT = /^\s*[+-]?\d+(?:[.,](\d*))?[eE]\+?(\d+)\s*$/
/** Spreadsheets show whole numbers of more digits with an exponent. */
const MAX_DIGITS = 11

/** True for a number with an exponent of which a spreadsheet may have dropped digits, such as 4.00638E+12. */
export function isRounded(text: string): boolean {
  const [, fraction = '', exponent = '0'] = EXPONENT.exec(text) ?? []
  return Number(exponent) >= MAX_DIGITS || (fraction !== '' && Number(exponent) > fraction.length)
}

/** A row, or the reason that reading stops. */
export type Entry = RowEntry | Stop

/** The first characters of a cell, quoted; invisible ones, which could garble a terminal, are escaped. */
export const showText = (text: string): string =>
  JSON.stringify(text.slice(0, MAX_SHOWN)).replace(INVISIBLE, toEscape)

const MAX_SHOWN = 40
// Characters that JSON does not escape: controls, separators, and formats such as a zero-width space or a direction.
const INVISIBLE = /[\p{Cc}\p{Cf}\p{Zl}\p{Zp}]/gu
const toEscape = (character: string) =>
  `\\u${character.charCodeAt(0).toString(16).padStart(4, '0')}`
