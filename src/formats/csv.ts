// Plants as comma-separated values (RFC 4180), with a first line of names.

import type { CsvError } from 'csv-parse'
import { OpenError } from '../errors'
import { type NewPlant, parseInt64 } from '../plant'
import { requireUtf8 } from './encoding'

/** A record as a plant may be made of it, or what is wrong with it; by its last line. */
export type CsvEntry = { readonly line: number } & (
  | { readonly value: unknown }
  | { readonly problem: string }
)

type CsvRecord = { id: unknown; name?: unknown; tag?: unknown }
type CsvResult = { record: CsvRecord; info: { lines: number } }
type CsvCell = { readonly column: unknown; readonly quoting: boolean; readonly header: boolean }

const COLUMNS = ['id', 'name', 'tag']

// A tag that is empty without quotes is none.
const castCsv = (text: string, { column, quoting, header }: CsvCell): string | undefined =>
  column === 'tag' && text === '' && !quoting && !header ? undefined : text

// An id stays a text where it is no int64, so that it does not match.
const toValue = ({ id, ...rest }: CsvRecord): unknown => ({
  ...rest,
  id: typeof id === 'string' ? (parseInt64(id) ?? id) : id,
})

// What spreadsheets put between the fields, in countries where a comma is in the numbers.
const SEPARATORS = [
  [';', 'semicolons'],
  ['\t', 'tabs'],
] as const

function refuseHeader(cells: readonly string[]): never {
  const used = SEPARATORS.find(([separator]) => cells.some((cell) => cell.includes(separator)))
  const hint = used ? `; this file seems to use ${used[1]}, save it with commas` : ''
  throw new OpenError(`header must be id,name[,tag]${hint}`)
}

function readHeader(cells: readonly string[], onNotice: (notice: string) => void): string[] {
  const names = cells.map((cell) => cell.trim().toLowerCase())
  const count = (column: string) => names.filter((name) => name === column).length
  if (count('id') !== 1 || count('name') !== 1 || count('tag') > 1) refuseHeader(cells)
  for (const [index, name] of names.entries()) {
    if (!COLUMNS.includes(name)) onNotice(`column ${JSON.stringify(cells[index])} is ignored`)
  }
  return names
}

const REST = 'the rest of the file was not read'

function explain(error: CsvError | undefined): string {
  const column = COLUMNS.find((name) => name === error?.column)
  const where = column ? ` in "${column}"` : ''
  switch (error?.code) {
    case 'CSV_RECORD_INCONSISTENT_COLUMNS':
      return 'not as many fields as the header has'
    case 'CSV_INVALID_CLOSING_QUOTE':
    case 'INVALID_OPENING_QUOTE':
      return `stray quote${where}; ${REST}`
    case 'CSV_QUOTE_NOT_CLOSED':
      return `unterminated quote; ${REST}`
    case 'CSV_MAX_RECORD_SIZE':
      return `too long; ${REST}`
    default:
      return `${error?.message ?? 'not CSV'}; ${REST}`
  }
}

/**
 * Reads records of at most `limit` characters each, up to the first whose quotes do not tell where it ends. Throws an
 * `OpenError` where the text is not UTF-8 or the names are wrong.
 */
export async function* readCsvRecords(
  stream: AsyncIterable<Uint8Array>,
  limit: number,
  onNotice: (notice: string) => void,
): AsyncGenerator<CsvEntry> {
  // Loaded only when needed: a daemon never does.
  const { parse } = await import('csv-parse')
  const { pipeline, Readable } = await import('node:stream')
  const skipped: { line: number; problem: string }[] = []
  let end = Number.POSITIVE_INFINITY

  function skip(error: CsvError | undefined): undefined {
    const line = Number(error?.lines ?? 0)
    // The parser may stumble more than once over one record.
    if (line >= end) return
    if (error?.code !== 'CSV_RECORD_INCONSISTENT_COLUMNS') end = line
    skipped.push({ line, problem: explain(error) })
  }

  const parser = parse({
    bom: true,
    columns: (cells: readonly string[]) => readHeader(cells, onNotice),
    record_delimiter: ['\r\n', '\n', '\r'],
    info: true,
    cast: castCsv,
    skip_empty_lines: true,
    skip_records_with_error: true,
    max_record_size: limit,
    on_skip: skip,
  })
  // An error of the stream reaches the loop below by the parser.
  pipeline(Readable.from(requireUtf8(stream)), parser, () => {})
  for await (const { record, info } of parser as AsyncIterable<CsvResult>) {
    // The parser reads ahead of this loop.
    const before = skipped.findIndex(({ line }) => line > info.lines)
    yield* skipped.splice(0, before < 0 ? skipped.length : before)
    if (info.lines > end) return
    yield { line: info.lines, value: toValue(record) }
  }
  yield* skipped.splice(0)
}

// A tag that is the empty string is quoted; one that is absent is not.
const csvField = (text: string): string =>
  text === '' || /[",\r\n]|^\s|\s$|^\ufeff/.test(text) ? `"${text.replaceAll('"', '""')}"` : text

/** What a CSV file of plants begins with. */
export const csvHeader = `${COLUMNS.join(',')}\n`

/** The line of a plant. */
export const csvLine = ({ id, name, tag }: NewPlant): string =>
  `${id},${csvField(name)},${tag === undefined ? '' : csvField(tag)}\n`
