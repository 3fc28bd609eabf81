// Plants as comma-separated values (RFC 4180), with a header.

import { OpenError } from '../errors'
import { FIELDS, parseInt64, TEXTS } from '../plant'
import { type CsvFault, type CsvRecord, createCsvReader } from './csv-records'
import { decodeUtf8 } from './encoding'
import type { PlantToWrite, RawEntry } from './entry'

// What spreadsheets use instead of commas, in countries with decimal commas.
const SEPARATORS = [
  [';', 'semicolons'],
  ['\t', 'tabs'],
] as const

/** What the header of a CSV file must be, as users read it. */
export const csvHeaderForm = FIELDS.join(',').replace(/,(?!name)\w+/g, '[$&]')

function refuseHeader(cells: readonly string[]): never {
  const used = SEPARATORS.find(([separator]) => cells.some((cell) => cell.includes(separator)))
  const hint = used ? `; this file seems to use ${used[1]}, save it with commas` : ''
  throw new OpenError(`header must be ${csvHeaderForm}${hint}`)
}

function readHeader(cells: readonly string[], onNotice: (notice: string) => void): string[] {
  const names = cells.map((cell) => cell.trim().toLowerCase())
  const count = (column: string) => names.filter((name) => name === column).length
  const isWhole = names.includes('id') && names.includes('name')
  if (!isWhole || FIELDS.some((column) => count(column) > 1)) refuseHeader(cells)
  for (const [index, name] of names.entries()) {
    if (!FIELDS.some((column) => column === name))
      onNotice(`column ${JSON.stringify(cells[index])} is ignored`)
  }
  return names
}

function explain({ fault, field }: CsvFault, names: readonly string[]): string {
  const column = FIELDS.find((name) => field !== null && name === names[field])
  const where = column && fault === 'stray quote' ? ` in "${column}"` : ''
  return `${fault}${where}; the rest of the file was not read`
}

/** Returns a function that converts a record into the value of a plant, not yet checked. */
function createConverter(names: readonly string[]): (record: CsvRecord) => RawEntry {
  const id = names.indexOf('id')
  const texts = TEXTS.map((name) => [name, names.indexOf(name), name !== 'name'] as const)
  return ({ line, fields, quoted }) => {
    if (fields.length !== names.length) {
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
 * Reads records of at most `limit` characters each, up to the first fault in their quotes. Throws an `OpenError` if the
 * text is not UTF-8 or the header is wrong.
 */
export async function* readCsvRecords(
  stream: AsyncIterable<Uint8Array>,
  limit: number,
  onNotice: (notice: string) => void,
): AsyncGenerator<readonly RawEntry[]> {
  const read = createCsvReader(limit)
  let names: readonly string[] = []
  let convert: ReturnType<typeof createConverter> | undefined

  function toEntries(records: readonly (CsvRecord | CsvFault)[]): RawEntry[] {
    const entries: RawEntry[] = []
    for (const record of records) {
      if ('fault' in record) {
        if (!convert) refuseHeader([])
        entries.push({ line: record.line, problem: explain(record, names) })
      } else if (convert) {
        entries.push(convert(record))
      } else {
        names = readHeader(record.fields, onNotice)
        convert = createConverter(names)
      }
    }
    return entries
  }

  for await (const text of decodeUtf8(stream)) {
    const records = read(text, false)
    yield toEntries(records)
    const last = records.at(-1)
    if (last && 'fault' in last) return
  }
  yield toEntries(read('', true))
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
