// An opened file of plants: its rows, the names of its columns, and its format.

import { OpenError } from '../errors'
import { MAX_BODY_BYTES } from '../plant/json'
import type { Advice } from './advice'
import { readCsv } from './csv'
import { checkText, decodeText, joinFirst, prepend } from './encoding/encoding'
import { checkSignature, type Format, SIGNATURE_BYTES } from './format'
import { columnsOfRows } from './header'
import { openJson } from './json/json'
import type { Cell, FileRow, Line } from './row'
import { type Opener, replaySource, type Source } from './source'
import { collectWorkbook, type WorkbookReader } from './workbook/workbook'

/** The settings for reading a file; null: detected from its first bytes and lines. */
export type Settings = {
  readonly encoding: string | null
  readonly delimiter: string | null
  readonly sheet: string | null
  /** False if the first row is data, too. */
  readonly hasHeader: boolean
  /** The line of the header; null: the first row. Rows above it are ignored. */
  readonly headerRow: number | null
  /** The path of the list of plants in JSON: keys joined by dots, `*` for any key. */
  readonly list: string | null
  /** Texts that mark an empty cell, such as NA. */
  readonly nullTexts: readonly string[] | null
}

export const USUAL_SETTINGS: Settings = {
  encoding: null,
  delimiter: null,
  sheet: null,
  hasHeader: true,
  headerRow: null,
  list: null,
  nullTexts: null,
}

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
  /** The path of the list in JSON; null: the document is a list, or one value after another. */
  readonly list: string | null
  readonly nullTexts: readonly string[] | null
}

// A plant's row is about as long as the body that created it.
const MAX_ROW = MAX_BODY_BYTES + 1024
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

async function openCsv(bytes: AsyncIterable<Uint8Array>, settings: Settings, advice: Advice) {
  const text = decodeText(joinFirst(bytes, FIRST_BYTES), settings.encoding, advice)
  const { delimiter, lines } = await readCsv(text, MAX_ROW, settings.delimiter)
  return { ...NO_PARTS, delimiter, lines }
}

async function openWorkbook(
  bytes: AsyncIterable<Uint8Array>,
  settings: Settings,
  readBook: WorkbookReader,
): Promise<RowSource> {
  const { rows, ...workbook } = await readBook(await collectWorkbook(bytes), settings.sheet)
  async function* lines() {
    yield* rows
  }
  return { ...NO_PARTS, ...workbook, lines: lines() }
}

/** The first bytes of a source, enough for its signature; null: it is empty. */
async function headOf(open: Opener): Promise<Uint8Array | null> {
  for await (const part of joinFirst(open('inspect'), SIGNATURE_BYTES)) return part
  return null
}

/**
 * Checks a file before any plant is stored: its first bytes, and all of a text. Throws an `OpenError` for another kind of
 * file, or another encoding.
 */
export async function checkFile(
  format: Format,
  open: Opener,
  encoding: string | null,
  advice: Advice,
): Promise<void> {
  checkSignature(format, (await headOf(open)) ?? new Uint8Array(), advice)
  if (format !== 'xlsx') await checkText(open('inspect'), encoding, advice)
}

/** Names the columns of a table by its first row. */
function tableOf(
  rowSource: Omit<RowSource, 'lines'> & Pick<Table, 'format' | 'nullTexts' | 'isKeyed'>,
  { first, rest }: Awaited<ReturnType<typeof readSample>>,
  hasHeader: boolean,
): Table {
  const rows = first.filter(isRow)
  const [top] = first
  if (hasHeader && top && !isRow(top)) {
    const { column = 0 } = top
    throw new OpenError(
      `${'stop' in top ? top.stop : top.problem} in column ${column + 1} of the header`,
    )
  }
  if (hasHeader && top && isRow(top)) {
    const header = (top.cells as readonly Cell[]).map(textOf)
    const lines = prepend(first.slice(1), rest)
    return { ...rowSource, header, isNamed: true, sample: rows.slice(1), lines }
  }
  let width = 0
  for (const { cells } of rows) width = Math.max(width, (cells as readonly Cell[]).length)
  const [header, lines] = [Array(width).fill(''), prepend(first, rest)]
  return { ...rowSource, header, isNamed: false, sample: rows, lines }
}

/** Names the columns of objects by their keys. */
function keyedTable(
  rowSource: Omit<RowSource, 'lines'> & Pick<Table, 'format' | 'nullTexts' | 'isKeyed'>,
  { first, rest }: Awaited<ReturnType<typeof readSample>>,
  { hasHeader, headerRow }: Settings,
): Table {
  const sample = first.filter(isRow)
  if (!hasHeader || headerRow !== null)
    throw new OpenError('the keys of its objects name the columns; it has no header row')
  const lines = prepend(first, rest)
  return { ...rowSource, header: columnsOfRows(sample), isNamed: true, sample, lines }
}

/** Opens a file. Throws an `OpenError` that says what to do if it is of another kind, in another encoding, or damaged. */
export async function openTable(
  format: Format,
  source: Source,
  settings: Settings,
  advice: Advice,
  readBook: WorkbookReader,
): Promise<Table> {
  const { open, release } = replaySource(source, MAX_ROW, advice)
  const head = await headOf(open)
  checkSignature(format, head ?? new Uint8Array(), advice)
  const isJson = format === 'json' || format === 'ndjson'
  const json = isJson ? await openJson(format, open, settings, MAX_ROW, advice) : null
  release()
  const { lines, ...parts }: RowSource = json
    ? { ...NO_PARTS, ...json }
    : format === 'csv'
      ? await openCsv(open('read'), settings, advice)
      : await openWorkbook(open('read'), settings, readBook)
  const { headerRow, hasHeader, nullTexts } = settings
  const beginning = await readSample(headerRow === null ? lines : skipRowsAbove(lines, headerRow))
  const [top] = beginning.first
  const rows = beginning.first.filter(isRow)
  // A line of NDJSON is refused alone.
  if (format === 'json' && rows.length === 0 && top && !isRow(top)) {
    const problem = 'stop' in top ? top.stop : top.problem
    throw new OpenError(`no plant in it; line ${top.line}: ${problem}`)
  }
  const isKeyed = isJson && !Array.isArray(rows[0]?.cells)
  const rowSource = { ...parts, format, nullTexts, isKeyed }
  return isKeyed
    ? keyedTable(rowSource, beginning, settings)
    : tableOf(rowSource, beginning, hasHeader)
}
