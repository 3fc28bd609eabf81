// An opened file of plants: its rows, the names of its columns, and its format.

import { OpenError } from '../errors'
import { MAX_BODY_BYTES } from '../plant/json'
import { readCsv } from './csv'
import { decodeText, encodingOf, HEAD_BYTES, joinFirst, prepend } from './encoding/encoding'
import type { Format } from './format'
import { columnsOfRows } from './header'
import { openJson } from './json/json'
import type { Settings } from './question'
import type { Cell, FileRow, Line } from './row'
import type { Opener } from './source'
import { collectWorkbook, type WorkbookReader } from './workbook/workbook'

export type Table = {
  readonly format: Format
  /** The names of the columns: from the header, or the keys of the first values; '' for each if there is no header. */
  readonly header: readonly string[]
  /** True if the columns have names. */
  readonly isNamed: boolean
  /** True if the rows are objects of JSON. */
  readonly isKeyed: boolean
  /** The first rows, for a guess and a preview. */
  readonly sample: readonly FileRow[]
  /** All rows, in arrays; they can be read once. */
  readonly lines: AsyncIterable<readonly Line[]>
  /** null unless it is CSV. */
  readonly delimiter: string | null
  /** The sheets of a workbook, else none. */
  readonly sheets: readonly string[]
  readonly sheet: string | null
  /** Rows of the sheet that are hidden, and read too. */
  readonly hiddenRows: number
  /** The path of the list in JSON, or null if the document is a list, or one value after another. */
  readonly list: string | null
  readonly nullTexts: readonly string[] | null
}

// A plant's row is about as long as the body that created it.
export const MAX_ROW = MAX_BODY_BYTES + 1024
const SAMPLE_ROWS = 1000
/** The least bytes of a CSV's beginning that its delimiter is detected from. */
const FIRST_BYTES = 65_536
/** Long rows fill few parts: the sample then has at least a header and a row. */
const SAMPLE_PARTS = 16
const MIN_SAMPLE_ROWS = 2

/** Reads the first rows. `rest`: those after them. */
async function readSample(rest: AsyncGenerator<readonly Line[]>) {
  const first: Line[] = []
  for (let parts = 0; first.length < (parts < SAMPLE_PARTS ? SAMPLE_ROWS : MIN_SAMPLE_ROWS); ) {
    const { value, done } = await rest.next()
    if (done) break
    for (const line of value) first.push(line)
    if (value.length > 0) parts += 1
  }
  return { first, rest }
}

const isRow = (line: Line): line is FileRow => 'cells' in line

/** The text of a cell of a header; those of JSON may be of any type. */
function textOf(cell: unknown): string {
  if (cell === null || cell === undefined) return ''
  if (typeof cell !== 'object') return String(cell)
  return 'error' in cell ? String(cell.error) : 'text' in cell ? String(cell.text) : ''
}

/** Skips the rows above the header. Throws an `OpenError` if its row is empty. */
async function* skipRowsAbove(
  lines: AsyncIterable<readonly Line[]>,
  headerRow: number,
): AsyncGenerator<readonly Line[]> {
  let isFound = false
  for await (const part of lines) {
    const rows: readonly Line[] = isFound ? part : part.filter(({ line }) => line >= headerRow)
    const [first] = rows
    if (!isFound && first && first.line !== headerRow) {
      throw new OpenError(`row ${headerRow} is empty; the next row is ${first.line}`)
    }
    isFound ||= first !== undefined
    yield rows
  }
  if (!isFound) throw new OpenError(`no row ${headerRow}; the file ends before it`)
}

/** The rows of a file, and how it was divided into them. */
type RowSource = Pick<Table, 'delimiter' | 'sheets' | 'sheet' | 'hiddenRows' | 'list'> & {
  readonly lines: AsyncGenerator<readonly Line[]>
}

const NO_PARTS = { delimiter: null, sheets: [], sheet: null, hiddenRows: 0, list: null }

async function openWorkbook(
  bytes: AsyncIterable<Uint8Array>,
  sheet: string | null,
  readBook: WorkbookReader,
): Promise<RowSource> {
  const { rows, ...workbook } = await readBook(await collectWorkbook(bytes), sheet)
  async function* lines() {
    yield* rows
  }
  return { ...NO_PARTS, ...workbook, lines: lines() }
}

async function openRows(
  format: Format,
  open: Opener,
  settings: Settings,
  readBook: WorkbookReader,
): Promise<RowSource> {
  const { sheet, delimiter, list } = settings
  if (format === 'xlsx') return openWorkbook(open('read'), sheet, readBook)
  const encoding = settings.encoding ?? encodingOf(await headOf(open))
  if (format === 'csv') {
    const text = decodeText(joinFirst(open('read'), FIRST_BYTES), encoding)
    return { ...NO_PARTS, ...(await readCsv(text, MAX_ROW, delimiter)) }
  }
  const openText = (purpose: 'inspect' | 'read') => decodeText(open(purpose), encoding)
  return { ...NO_PARTS, ...(await openJson(format, openText, list, MAX_ROW)) }
}

/** The first bytes of a file. */
export async function headOf(open: Opener): Promise<Uint8Array> {
  for await (const part of joinFirst(open('inspect'), HEAD_BYTES))
    return part.subarray(0, HEAD_BYTES)
  return new Uint8Array()
}

/** The reason that a row cannot be read. */
const problemOf = (line: Exclude<Line, FileRow>): string =>
  'stop' in line ? line.stop : line.problem

/** Opens a file. Throws a {@link Question}, or an `OpenError` if it is damaged. */
export async function openTable(
  format: Format,
  open: Opener,
  settings: Settings,
  readBook: WorkbookReader,
): Promise<Table> {
  const { lines: all, ...parts } = await openRows(format, open, settings, readBook)
  const { headerRow, header: hasHeader, null: nullTexts } = settings
  const { first, rest } = await readSample(headerRow === null ? all : skipRowsAbove(all, headerRow))
  const [top] = first
  const rows = first.filter(isRow)
  const isJson = format === 'json' || format === 'ndjson'
  if (isJson && rows.length === 0 && top && !isRow(top))
    throw new OpenError(`no plant in it; line ${top.line}: ${problemOf(top)}`)
  const isKeyed = isJson && !Array.isArray(rows[0]?.cells)
  const source = { ...parts, format, nullTexts, isKeyed }
  if (isKeyed) {
    if (!hasHeader || headerRow !== null)
      throw new OpenError('the keys of its objects name the columns; it has no header row')
    const lines = prepend(first, rest)
    return { ...source, header: columnsOfRows(rows), isNamed: true, sample: rows, lines }
  }
  if (!hasHeader || !top) {
    let width = 0
    for (const { cells } of rows) width = Math.max(width, (cells as readonly Cell[]).length)
    const header = Array(width).fill('')
    return { ...source, header, isNamed: false, sample: rows, lines: prepend(first, rest) }
  }
  if (!isRow(top)) {
    const { column = 0 } = top
    throw new OpenError(`${problemOf(top)} in column ${column + 1} of the header`)
  }
  const header = (top.cells as readonly Cell[]).map(textOf)
  const lines = prepend(first.slice(1), rest)
  return { ...source, header, isNamed: true, sample: rows.slice(1), lines }
}
