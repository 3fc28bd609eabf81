// Plants as comma-separated values (RFC 4180), with a header.

import { OpenError } from '../errors'
import { type NewPlant, parseInt64 } from '../plant'
import { type CsvFault, type CsvRecord, createCsvReader } from './csv-records'
import { decodeUtf8 } from './encoding'

/** The value of a record, or what is wrong with it. `line`: its last line. */
export type CsvEntry = { readonly line: number } & (
  | { readonly value: unknown }
  | { readonly problem: string }
)

const COLUMNS = ['id', 'name', 'tag']

// What spreadsheets use instead of commas, in countries with decimal commas.
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

function explain({ fault, field }: CsvFault, names: readonly string[]): string {
  const column = COLUMNS.find((name) => field !== null && name === names[field])
  const where = column && fault === 'stray quote' ? ` in "${column}"` : ''
  return `${fault}${where}; the rest of the file was not read`
}

/** Returns a function that converts a record into the value of a plant, not yet checked. */
function createConverter(names: readonly string[]): (record: CsvRecord) => CsvEntry {
  const [id = -1, name = -1, tag = -1] = COLUMNS.map((column) => names.indexOf(column))
  return ({ line, fields, quoted }) => {
    if (fields.length !== names.length) {
      return { line, problem: 'not as many fields as the header has' }
    }
    const digits = fields[id] ?? ''
    const tagged = fields[tag]
    // A tag that is empty without quotes is absent. An id that is no int64 stays a text, which the schema rejects.
    const value = {
      id: parseInt64(digits) ?? digits,
      name: fields[name],
      tag: tagged === '' && !quoted.includes(tag) ? undefined : tagged,
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
): AsyncGenerator<readonly CsvEntry[]> {
  const read = createCsvReader(limit)
  let names: readonly string[] = []
  let convert: ReturnType<typeof createConverter> | undefined

  function toEntries(records: readonly (CsvRecord | CsvFault)[]): CsvEntry[] {
    const entries: CsvEntry[] = []
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

// An empty tag is quoted, to tell it from an absent one.
const csvField = (text: string): string =>
  text === '' || /[",\r\n]|^\s|\s$|^\ufeff/.test(text) ? `"${text.replaceAll('"', '""')}"` : text

/** The header of a CSV file of plants. */
export const csvHeader = `${COLUMNS.join(',')}\n`

/** The line of a plant. */
export const csvLine = ({ id, name, tag }: NewPlant): string =>
  `${id},${csvField(name)},${tag === undefined ? '' : csvField(tag)}\n`
