import type { CsvError } from 'csv-parse'
import { OpenError } from '../errors'
import { type NewPlant, parseInt64 } from '../plant'
import { NEWLINE } from './lines'

/** A record of a CSV file as a plant may be made of it, or what is wrong with it; by its last line. */
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

function readHeader(cells: readonly string[]): string[] {
  const names = cells.map((cell) => cell.trim().toLowerCase())
  const count = (column: string) => names.filter((name) => name === column).length
  if (count('id') === 1 && count('name') === 1 && count('tag') <= 1) return names
  throw new OpenError(
    `the first line must name each of the columns once: ${COLUMNS.join(',')} (tag may be left out)`,
  )
}

/** A stream as it is, as long as it is UTF-8. */
async function* inUtf8(stream: AsyncIterable<Uint8Array>): AsyncGenerator<Uint8Array> {
  const decoder = new TextDecoder('utf-8', { fatal: true })
  let lines = 1
  const refuse = () => new OpenError(`the text is not UTF-8, in line ${lines} or behind it`)
  for await (const chunk of stream) {
    try {
      decoder.decode(chunk, { stream: true })
    } catch {
      throw refuse()
    }
    for (let at = chunk.indexOf(NEWLINE); at >= 0; at = chunk.indexOf(NEWLINE, at + 1)) lines++
    yield chunk
  }
  try {
    decoder.decode()
  } catch {
    throw refuse()
  }
}

/**
 * Reads the records of CSV (RFC 4180) with a first line of names, of at most `limit` characters each. The first that
 * leaves open where it ends is the last. Throws an `OpenError` where the text is not UTF-8 or the names are wrong.
 */
export async function* readCsvRecords(
  stream: AsyncIterable<Uint8Array>,
  limit: number,
): AsyncGenerator<CsvEntry> {
  // Loaded when it is needed: a daemon never is in need of it.
  const { parse } = await import('csv-parse')
  const { pipeline, Readable } = await import('node:stream')
  const skipped: { line: number; problem: string }[] = []
  let end = Number.POSITIVE_INFINITY

  function skip(error: CsvError | undefined): undefined {
    const line = Number(error?.lines ?? 0)
    const problem = error?.message ?? 'the line is not CSV'
    const isWhole = error?.code === 'CSV_RECORD_INCONSISTENT_COLUMNS'
    if (line > end) return
    if (!isWhole) end = line
    skipped.push({ line, problem: isWhole ? problem : `${problem}; nothing behind it was read` })
  }

  const parser = parse({
    bom: true,
    columns: readHeader,
    record_delimiter: ['\r\n', '\n', '\r'],
    info: true,
    cast: castCsv,
    skip_empty_lines: true,
    skip_records_with_error: true,
    max_record_size: limit,
    on_skip: skip,
  })
  // An error of the stream reaches the loop below by the parser.
  pipeline(Readable.from(inUtf8(stream)), parser, () => {})
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
