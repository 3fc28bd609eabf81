// The formats of files of plants, by the file's first bytes and by its name.

import { OpenError } from '../errors'
import { createDecoder } from './encoding/encoding'

/** CSV with any delimiter, JSON values one after another, a JSON document with a list, or a workbook of any kind. */
export const FORMATS = ['csv', 'ndjson', 'json', 'xlsx'] as const
export type Format = (typeof FORMATS)[number]

/** The formats of text that are written. */
export const WRITTEN_FORMATS = ['ndjson', 'csv'] as const
export type WrittenFormat = (typeof WRITTEN_FORMATS)[number]
/** The formats that all plants are exported in. */
export const EXPORT_FORMATS = [...WRITTEN_FORMATS, 'xlsx'] as const
/** Plants that a workbook is written of: they take some seconds and 450 MB. */
export const MAX_WORKBOOK_PLANTS = 100_000
export type ExportFormat = (typeof EXPORT_FORMATS)[number]

const ENDINGS: readonly (readonly [ending: RegExp, Format])[] = [
  [/\.(csv|tsv|tab|psv|txt)$/i, 'csv'],
  [/\.(ndjson|jsonl)$/i, 'ndjson'],
  [/\.(json|geojson)$/i, 'json'],
  [/\.(xls[xmb]?|ods)$/i, 'xlsx'],
]

const NOT_READ =
  /\.(ya?ml|toml|xml|kml|kmz|gpx|html?|dbf|shp|gpkg|parquet|avro|feather|rda|rds|sav|docx?|odt|numbers|mdb|sql)$/i

/** The format of a file to read, by its name; null if the name has no known ending. */
export const formatToRead = (name: string): Format | null =>
  ENDINGS.find(([ending]) => ending.test(name))?.[1] ?? null

/** The format of a file to write, by its name; null if the name has no known ending. */
export function formatToWrite(name: string): ExportFormat | null {
  if (/\.(ndjson|jsonl)$/i.test(name)) return 'ndjson'
  return /\.csv$/i.test(name) ? 'csv' : /\.xlsx$/i.test(name) ? 'xlsx' : null
}

/** True for a ZIP archive, or a file of an old version of Office. */
const isWorkbook = ([a, b, c]: Uint8Array): boolean =>
  (a === 0x50 && b === 0x4b && (c === 3 || c === 5)) || (a === 0xd0 && b === 0xcf && c === 0x11)

/** The format of a file by its first bytes and its name. Throws an `OpenError` for kinds that are not read. */
export function findFormat(name: string, head: Uint8Array): Format {
  const namedFormat = formatToRead(name)
  const [, ending] = NOT_READ.exec(name) ?? []
  if (ending !== undefined)
    throw new OpenError(
      `.${ending.toLowerCase()} files are not read; save the table as CSV or .xlsx`,
    )
  if (isWorkbook(head)) return 'xlsx'
  const isJson = /^\s*[[{]/.test(new TextDecoder().decode(head))
  return namedFormat ?? (isJson ? 'json' : 'csv')
}

/** The bytes of a file's beginning that show whether it is text. */
const TEXT_BYTES = 96

/** A character that no text has before its first separator; a cell may have any, and ISO-2022-JP has escapes. */
// biome-ignore lint/suspicious/noControlCharactersInRegex: they are looked for.
const CONTROL = /^[^,;\t|]*[\0-\x08\x0e-\x1a\x1c-\x1f]/

/** Throws an `OpenError` if the first bytes of a file do not fit its format. `encoding`: of a text. */
export function checkHead(format: Format, head: Uint8Array, encoding: string): void {
  if (format === 'xlsx') {
    if (isWorkbook(head)) return
    throw new OpenError('this is not a workbook; save the table as .xlsx, or name a text .csv')
  }
  const text = createDecoder(encoding).decode(head.subarray(0, TEXT_BYTES))
  if (text.startsWith('%PDF') || CONTROL.test(text))
    throw new OpenError('this is not text; save the table as CSV or .xlsx')
}
