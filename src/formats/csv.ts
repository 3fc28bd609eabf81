// Plants as comma-separated values (RFC 4180), with a header. Other delimiters are read, but not written.

import { OpenError } from '../errors'
import { FIELDS, parseInt64, TEXTS } from '../plant/plant'
import { type CsvFault, type CsvRecord, createCsvReader } from './csv-records'
import { decodeText } from './encoding'
import type { PlantToWrite, RawEntry } from './format'

/** What the header of a CSV file must be, as users read it. */
export const csvHeaderForm = FIELDS.join(',').replace(/,(?!name)\w+/g, '[$&]')

// Spreadsheets write semicolons where decimals have commas, and tabs with UTF-16.
const DELIMITERS = [',', ';', '\t']
// A longer line is no header.
const LONGEST_HEADER = 65_536

/** The name of a column, whatever its case, its quotes and the space around it. */
const columnOf = (cell: string): string => cell.replaceAll('"', '').trim().toLowerCase()

/** The first delimiter by which a line names the columns of a plant; a comma if there is none. */
function findDelimiter(line: string): string {
  const isHeader = (delimiter: string) => {
    const columns = line.split(delimiter).map(columnOf)
    return columns.includes('id') && columns.includes('name')
  }
  return DELIMITERS.find(isHeader) ?? ','
}

const MOST_LISTED = 10
const LONGEST_CELL = 40
// What JSON leaves as it is, though it could change how a terminal or a page shows the text around it.
const INVISIBLE = /[\p{Cc}\p{Bidi_Control}\p{Zl}\p{Zp}]/gu
const toEscape = (it: string) => `\\u${it.charCodeAt(0).toString(16).padStart(4, '0')}`

/** A cell of the header as users read it: by its place if it is empty. */
const showCell = (cell: string, place: number): string =>
  cell.trim() === ''
    ? `column ${place + 1}`
    : JSON.stringify(cell.slice(0, LONGEST_CELL)).replace(INVISIBLE, toEscape)

const list = (texts: readonly string[]): string =>
  texts.length <= MOST_LISTED
    ? texts.join(', ')
    : `${texts.slice(0, MOST_LISTED).join(', ')} and ${texts.length - MOST_LISTED} more`

function readHeader(cells: readonly string[], onNotice: (notice: string) => void): string[] {
  const columns = cells.map(columnOf)
  const shown = cells.map(showCell)
  const count = (field: string) => columns.filter((column) => column === field).length
  const isWhole = columns.includes('id') && columns.includes('name')
  if (!isWhole || FIELDS.some((field) => count(field) > 1)) {
    throw new OpenError(`header must be ${csvHeaderForm}; found ${list(shown)}`)
  }
  const unused = shown.filter((_, place) => !FIELDS.some((field) => field === columns[place]))
  if (unused.length > 0) onNotice(`columns not used: ${list(unused)}`)
  return columns
}

function explain({ fault, field }: CsvFault, columns: readonly string[]): string {
  const column = FIELDS.find((name) => field !== null && name === columns[field])
  const where = column ? ` in "${column}"` : ''
  return `${fault}${where}; the rest of the file was not read`
}

/** Returns a function that converts a record into the value of a plant, not yet checked. */
function createConverter(columns: readonly string[]): (record: CsvRecord | CsvFault) => RawEntry {
  const id = columns.indexOf('id')
  const texts = TEXTS.map((name) => [name, columns.indexOf(name), name !== 'name'] as const)
  return (record) => {
    const { line } = record
    if ('fault' in record) return { line, problem: explain(record, columns) }
    const { fields, quoted } = record
    if (fields.length !== columns.length) {
      return { line, problem: 'not as many fields as the header has' }
    }
    const digits = fields[id] ?? ''
    // An id that is no int64 stays a text, which the schema rejects.
    const value: Record<string, unknown> = { id: parseInt64(digits) ?? digits }
    for (const [name, place, isOptional] of texts) {
      // A text that is empty without quotes is absent, unless a plant must have it.
      if (!isOptional || fields[place] !== '' || quoted.includes(place)) value[name] = fields[place]
    }
    return { line, value }
  }
}

/**
 * Reads records of at most `limit` characters each, up to the first fault in their quotes. `delimiter`: null to find it
 * out from the header. Throws an `OpenError` if the text is neither UTF-8 nor UTF-16, or the header is wrong.
 */
export async function* readCsvRecords(
  stream: AsyncIterable<Uint8Array>,
  limit: number,
  delimiter: string | null,
  onNotice: (notice: string) => void,
): AsyncGenerator<readonly RawEntry[]> {
  let read: ReturnType<typeof createCsvReader> | undefined
  let convert: ReturnType<typeof createConverter> | undefined
  let text = ''

  const createReader = (first: string) => createCsvReader(limit, delimiter ?? findDelimiter(first))

  function toEntries(records: readonly (CsvRecord | CsvFault)[]): RawEntry[] {
    const [first] = records
    if (convert || !first) return convert ? records.map(convert) : []
    if ('fault' in first) throw new OpenError(`header must be ${csvHeaderForm}; ${first.fault}`)
    convert = createConverter(readHeader(first.fields, onNotice))
    return records.slice(1).map(convert)
  }

  for await (const part of decodeText(stream)) {
    text += part
    if (!read) {
      const lines = text.trimStart().split(/[\r\n]/, 2)
      if (lines.length < 2 && text.length < LONGEST_HEADER) continue
      read = createReader(lines[0] ?? '')
    }
    const records = read(text, false)
    text = ''
    yield toEntries(records)
    const last = records.at(-1)
    if (last && 'fault' in last) return
  }
  read ??= createReader(text)
  yield toEntries(read(text, true))
}

// An empty text is quoted, to tell it from an absent one.
function csvField(text: string | undefined): string {
  if (text === undefined) return ''
  const isQuoted = text === '' || /[",\r\n]|^\s|\s$|^\ufeff/.test(text)
  return isQuoted ? `"${text.replaceAll('"', '""')}"` : text
}

/** The header of a CSV file of plants. */
export const csvHeader = `${FIELDS.join(',')}\n`

/** The line of a plant. */
export const csvLine = (plant: PlantToWrite): string =>
  `${plant.id},${TEXTS.map((name) => csvField(plant[name])).join(',')}\n`

// What spreadsheets take for the beginning of a formula (OWASP, "CSV Injection").
const FORMULA = /^[=+\-@\t\r\n＝＋－＠]/

/** The line of a plant whose texts no spreadsheet runs as a formula: an apostrophe is before those that it would. */
export const inertCsvLine = (plant: PlantToWrite): string => {
  const texts = TEXTS.map((name) => [name, plant[name]?.replace(FORMULA, "'$&")])
  return csvLine({ ...plant, ...Object.fromEntries(texts) })
}
