// The cells of a workbook, as SheetJS reads them, as rows. Loaded only if a workbook is read.

import {
  type CellObject,
  CFB,
  parse_xlscfb,
  parse_zip,
  SSF,
  type WorkBook,
  type WorkSheet,
} from '@e965/xlsx'
import { OpenError } from '../../errors'
import type { Cell, Line } from '../row'

declare module '@e965/xlsx' {
  // Exported, but missing in its types.
  export function parse_xlscfb(file: object, options: ParsingOptions): WorkBook
  export function parse_zip(archive: object, options: ParsingOptions): WorkBook
}

const ROWS_AT_ONCE = 1000
/** Maximum number of cells that merged cells may cover. */
const MAX_COVERED = 5_000_000

const OPTIONS = {
  dense: true,
  cellNF: true,
  cellHTML: false,
  cellFormula: false,
  // Without it, hidden rows are not marked.
  cellStyles: true,
} as const

const SECONDS_A_DAY = 86_400
/** The first day that Excel cannot show. */
const YEAR_10000 = 2_958_466

const pad = (number: number): string => String(number).padStart(2, '0')

/** A time of day; its seconds only if it has any. */
function showTime(seconds: number): string {
  const [hours, minutes] = [Math.floor(seconds / 3600), Math.floor(seconds / 60) % 60]
  const rest = seconds % 60
  return `${pad(hours)}:${pad(minutes)}${rest === 0 ? '' : `:${pad(rest)}`}`
}

/** A date in ISO 8601, with its time of day if it has one; below one day, the time alone. */
function showDate(value: number, is1904: boolean): string {
  const all = Math.round(value * SECONDS_A_DAY)
  const day = Math.floor(all / SECONDS_A_DAY)
  const seconds = all - day * SECONDS_A_DAY
  if (value < 1 && day === 0) return showTime(seconds)
  // Excel counts a day that 1900 did not have (ECMA-376, part 1, section 18.17.4.1).
  const first = is1904 ? Date.UTC(1904, 0, 1) : Date.UTC(1899, 11, day < 60 ? 31 : 30)
  const date = new Date(first + day * SECONDS_A_DAY * 1000).toISOString().replace(/T.*/, '')
  return seconds === 0 ? date : `${date} ${showTime(seconds)}`
}

const DURATION = /\[(h+|m+|s+)\]/i

const DIGITS = /^-?\d+([.,]\d+)?(E[+-]?\d+)?$/i

/** A number as its cell shows it; with its exact digits if the cell has no format. */
function showNumber(value: number, { w: text }: CellObject, format: string): string {
  // A formula without a format may show a date in OpenDocument.
  const isDigits = text === undefined || DIGITS.test(text)
  if (text === undefined || (format === 'General' && isDigits && Number.isSafeInteger(value)))
    return String(value)
  return text.trim()
}

function toCell(cell: CellObject, is1904: boolean): Cell {
  const { t: type, v: value, z: format = 'General' } = cell
  if (type === 'e') return { error: cell.w ?? '#ERROR!' }
  if (type === 'b') return value ? 'TRUE' : 'FALSE'
  if (typeof value === 'number') {
    const isDate = SSF.is_date(String(format))
    // Excel shows ##### for dates before 1900 or after 9999.
    if (isDate && (cell.w === '' || Math.abs(value) >= YEAR_10000)) return { error: '#####' }
    const isDuration = DURATION.test(String(format)) || cell.w?.startsWith('-')
    if (isDate && !isDuration) return showDate(value, is1904)
    if (isDate) return cell.w ?? String(value)
    return { number: String(value), text: showNumber(value, cell, String(format)) }
  }
  const text = typeof value === 'string' ? value.replace(/\r\n?/g, '\n') : ''
  return text === '' ? null : text
}

type CellRows = (CellObject | undefined)[][]

/** Copies the value of merged cells into each row that they cover. */
function coverMerged(rows: CellRows, merges: NonNullable<WorkSheet['!merges']>): void {
  let remaining = MAX_COVERED
  for (const { s: start, e: end } of merges) {
    const first = rows[start.r]?.[start.c]
    if (first === undefined) continue
    for (let r = start.r + 1; r <= end.r && r < rows.length; r++) {
      if (--remaining < 0) throw new OpenError('too many merged cells; save the sheet as CSV')
      const row = rows[r]
      if (row) row[start.c] ??= first
    }
  }
}

const isBlank = (cell: Cell): boolean =>
  cell === null || (typeof cell === 'string' && cell.trim() === '')

function countHidden(sheet: WorkSheet): number {
  const [rows, data = []] = [sheet['!rows'] ?? [], sheet['!data']]
  let count = 0
  for (const index in rows) {
    const isFilled = data[index]?.some((cell) => cell?.v !== undefined && cell.v !== '')
    if (rows[index]?.hidden && isFilled) count += 1
  }
  return count
}

/** The rows that are not empty. A sheet may have a cell in its farthest corner, and nothing between. */
function* rowsOf(sheet: WorkSheet, is1904: boolean): Generator<readonly Line[]> {
  const data: CellRows = sheet['!data'] ?? []
  coverMerged(data, sheet['!merges'] ?? [])
  let rows: Line[] = []
  for (const index in data) {
    const cells = Array.from(data[index] ?? [], (cell) => (cell ? toCell(cell, is1904) : null))
    if (cells.every(isBlank)) continue
    rows.push({ line: Number(index) + 1, cells })
    if (rows.length < ROWS_AT_ONCE) continue
    yield rows
    rows = []
  }
  yield rows
}

/** The input of SheetJS: the parts of an archive, or a whole file of another kind. */
type Content = ReadonlyMap<string, Uint8Array> | Uint8Array

function parse(content: Content, sheet: string | number): WorkBook {
  const options = { ...OPTIONS, sheets: sheet }
  if (content instanceof Uint8Array) {
    const file = CFB.read(content, { type: 'array' })
    // Skips author and title: if their lengths are damaged, SheetJS reads for minutes.
    for (const entry of file.FileIndex)
      if (entry.name.endsWith('SummaryInformation')) entry.size = 0
    return parse_xlscfb(file, options)
  }
  const archive: object = CFB.utils.cfb_new()
  // SheetJS keeps its position in the array, so each parse needs a new one.
  for (const [name, part] of content) CFB.utils.cfb_add(archive, `/${name}`, part.subarray())
  return parse_zip(archive, options)
}

/**
 * The sheets that are not hidden, and the ones to try: that of this name, or all. Throws an `OpenError` if there is none.
 */
function chooseSheets({ SheetNames, Workbook }: WorkBook, sheetName: string | null) {
  const sheets = SheetNames.filter((_, index) => !Workbook?.Sheets?.[index]?.Hidden)
  const candidates = sheetName === null ? (sheets.length > 0 ? sheets : SheetNames) : [sheetName]
  const [first] = candidates
  if (first === undefined) throw new OpenError('the workbook has no sheet')
  if (!SheetNames.includes(first)) {
    const names = sheets.map((name) => JSON.stringify(name)).join(', ')
    throw new OpenError(`no sheet ${JSON.stringify(first)}; the sheets are ${names}`)
  }
  return { sheets, candidates }
}

/** Reads a sheet of a workbook, in one long call. Throws an error if it is damaged, or a chart. */
export function readSheet(content: Content, sheetName: string | null) {
  let book = parse(content, sheetName ?? 0)
  const { sheets, candidates } = chooseSheets(book, sheetName)
  for (const sheet of candidates) {
    // One sheet is parsed at a time.
    if (!book.Sheets[sheet]) book = parse(content, book.SheetNames.indexOf(sheet))
    const worksheet = book.Sheets[sheet]
    // SheetJS leaves out a sheet that it fails on.
    if (!worksheet) throw new Error('the sheet is damaged')
    if (worksheet['!type'] === 'chart') continue
    // An empty one is read only if there is no other.
    if (!worksheet['!data']?.length && sheet !== candidates.at(-1)) continue
    const is1904 = book.Workbook?.WBProps?.date1904 === true
    return { sheets, sheet, hiddenRows: countHidden(worksheet), rows: rowsOf(worksheet, is1904) }
  }
  const names = candidates.map((name) => JSON.stringify(name)).join(', ')
  throw new OpenError(`a chart has no rows: ${names}`)
}
