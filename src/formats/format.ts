// The formats of files of plants, by the file's name and by its first bytes.

import { OpenError } from '../errors'
import type { Advice } from './advice'

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

/** Throws an `OpenError` for the name of a file that cannot be imported. */
export function checkName(name: string): void {
  const [, ending] = NOT_READ.exec(name) ?? []
  if (ending === undefined) return
  throw new OpenError(`.${ending.toLowerCase()} files are not read; save the table as CSV or .xlsx`)
}

/** The format of a file to write, by its name; null if the name has no known ending. */
export function formatToWrite(name: string): ExportFormat | null {
  if (/\.(ndjson|jsonl)$/i.test(name)) return 'ndjson'
  return /\.csv$/i.test(name) ? 'csv' : /\.xlsx$/i.test(name) ? 'xlsx' : null
}

/** Number of leading bytes that {@link checkSignature} needs. */
export const SIGNATURE_BYTES = 96

const PACKED = 'a compressed file; unpack it first'
const PICTURE = 'a picture, not a table; type the list into a spreadsheet, and save that'

const ZIP = '504b0304'
const hexOf = (text: string): string =>
  [...text].map((character) => character.charCodeAt(0).toString(16).padStart(2, '0')).join('')
// The name of the first file in an archive begins at byte 30.
const beginsWith = (hex: string, names: readonly string[]): boolean =>
  hex.startsWith(ZIP) && names.some((name) => hex.startsWith(hexOf(name), 60))
const isOpenDocument = (hex: string) =>
  beginsWith(hex, ['mimetypeapplication/vnd.oasis.opendocument.spreadsheet'])
const isPackedWorkbook = (hex: string) =>
  beginsWith(hex, ['[Content_Types]', '_rels/', 'docProps/', 'xl/'])
const isOldWorkbook = (hex: string) => hex.startsWith('d0cf11e0')

// The first bytes of files, in hexadecimal (https://en.wikipedia.org/wiki/List_of_file_signatures).
const SIGNATURES: readonly (readonly [beginning: RegExp, description: string])[] = [
  // gzip, bzip2, xz, 7-Zip, Zstandard, RAR
  [/^(1f8b|425a68|fd377a585a|377abcaf|28b52ffd|52617221)/, PACKED],
  // PNG, JPEG, GIF, WebP, TIFF, HEIC
  [/^(89504e47|ffd8ff|47494638|52494646.{8}57454250|49492a00|4d4d002a|.{8}66747970)/, PICTURE],
  [/^25504446/, 'a PDF; export its table as CSV or .xlsx from the program that made it'],
  [/^53514c69746520666f726d61742033/, 'an SQLite database; export its table as CSV'],
  // UTF-32: a byte order mark, or an ASCII character.
  [
    /^(fffe0000|0000feff|(?!00)[0-7].000000|000000(?!00)[0-7].)/,
    'a text in UTF-32; save it as UTF-8',
  ],
]

// A "<" after white space: many programs write HTML or XML into files named .xls.
const MARKUP = /^(efbbbf)?(09|0a|0d|20)*3c/

const ANY_ZIP = /^504b0[357]0/

/** Describes a file that is not text, and what to do about it. */
function kindOf(hex: string, { workbook }: Advice): string | undefined {
  if (isOpenDocument(hex)) return `an OpenDocument spreadsheet; ${workbook('.ods')}`
  if (isOldWorkbook(hex)) return `an old or a protected Excel workbook; ${workbook('.xls')}`
  if (isPackedWorkbook(hex)) return `an Excel workbook; ${workbook('.xlsx')}`
  if (ANY_ZIP.test(hex)) {
    return `a ZIP file; if it is an Excel workbook, ${workbook('.xlsx')}; otherwise unpack it, or save its table as CSV`
  }
  return SIGNATURES.find(([beginning]) => beginning.test(hex))?.[1]
}

const signatureOf = (head: Uint8Array): string =>
  hexOf(String.fromCharCode(...head.subarray(0, SIGNATURE_BYTES)))

/** The format of a file by its first bytes; null if unknown. */
export function formatOfBytes(head: Uint8Array): Format | null {
  const hex = signatureOf(head)
  return isPackedWorkbook(hex) || isOpenDocument(hex) || isOldWorkbook(hex) ? 'xlsx' : null
}

/** True for a text whose first character is one of JSON. */
export const beginsAsJson = (head: Uint8Array): boolean =>
  /^\s*[[{]/.test(new TextDecoder().decode(head))

/**
 * Throws an `OpenError` with a fix if the first bytes of a file do not fit its format: an archive, a picture, a spreadsheet with
 * another name.
 */
export function checkSignature(format: Format, head: Uint8Array, advice: Advice): void {
  const hex = signatureOf(head)
  if (format === 'xlsx' && (hex.startsWith(ZIP) || isOldWorkbook(hex))) return
  const kind = kindOf(hex, advice)
  if (kind) throw new OpenError(`this is ${kind}`)
  if (format === 'xlsx' && MARKUP.test(hex)) {
    throw new OpenError(
      'this is a web page or another XML file; open it in a spreadsheet, and save it as .xlsx',
    )
  }
  if (format === 'xlsx') {
    throw new OpenError('this is not a workbook; rename it to .csv if it is text')
  }
}
