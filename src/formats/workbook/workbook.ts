// Bytes -> rows, for workbooks: Excel's (.xlsx, .xlsm, .xlsb, .xls) and OpenDocument's (.ods).

import { OpenError } from '../../errors'
import { concat } from '../bytes'
import type { Line } from '../row'
import { repairPart } from './repair'
import { unzip } from './zip'

/** The limits of a workbook, packed and unpacked. 450,000 plants have 6 MB and 60 MB, and need 0.6 GB of memory. */
const MAX_PACKED_BYTES = 50_000_000
const MAX_UNPACKED_BYTES = 250_000_000
export const TOO_LARGE = 'save the sheet as CSV, which may have any size'

/** Throws an `OpenError` for more bytes than a limit. */
function limitBytes(length: number, limit: number): void {
  if (length > limit)
    throw new OpenError(`the workbook is larger than ${limit / 1_000_000} MB; ${TOO_LARGE}`)
}

export type Workbook = {
  /** The names of the sheets that are not hidden. */
  readonly sheets: readonly string[]
  readonly sheet: string
  /** The number of rows that a filter or the user has hidden. They are read too. */
  readonly hiddenRows: number
  /** Rows that are not empty, many together. */
  readonly rows: Iterable<readonly Line[]>
}

/** Reads a sheet of a workbook: the one of this name, or the first that is not hidden. */
export type WorkbookReader = (bytes: Uint8Array, sheet: string | null) => Promise<Workbook>

/** The name of a cell, such as B4; `column` counts from 0. */
export function nameCell(line: number, column: number): string {
  let letters = ''
  for (let rest = column; rest >= 0; rest = Math.floor(rest / 26) - 1) {
    letters = String.fromCharCode(65 + (rest % 26)) + letters
  }
  return `${letters}${line}`
}

/** All bytes of a workbook. Throws an `OpenError` if it is too large. */
export async function collectWorkbook(stream: AsyncIterable<Uint8Array>): Promise<Uint8Array> {
  const parts: Uint8Array[] = []
  let length = 0
  for await (const part of stream) {
    length += part.length
    limitBytes(length, MAX_PACKED_BYTES)
    parts.push(part.slice())
  }
  return concat(parts)
}

// Pictures, macros, drawings and embedded documents contain no cells.
const READ_PARTS = /\.(xml|rels|bin)$/i
const NO_CELLS =
  /(^|\/)(media|drawings|charts|customXml|embeddings|printerSettings|docProps|Thumbnails|Object \d+)\/|vbaProject/i

const STYLES = 'styles.xml'
const NO_STYLES = new TextEncoder().encode('<office:document-styles/>')

const ZIP = 0x504b0304

const isZip = (bytes: Uint8Array): boolean =>
  bytes.length > 4 && new DataView(bytes.buffer, bytes.byteOffset).getUint32(0) === ZIP

async function openWorkbook(bytes: Uint8Array, sheet: string | null): Promise<Workbook> {
  const { readSheet } = await import('./sheet')
  if (!isZip(bytes)) return readSheet(bytes, sheet)
  const isWanted = (name: string) => READ_PARTS.test(name) && !NO_CELLS.test(name)
  const parts = await unzip(bytes, isWanted, (length) => limitBytes(length, MAX_UNPACKED_BYTES))
  for (const [name, part] of parts) parts.set(name, repairPart(name, part))
  // SheetJS fails on OpenDocument without styles.
  if (parts.has('content.xml') && !parts.has(STYLES)) parts.set(STYLES, NO_STYLES)
  return readSheet(parts, sheet)
}

/** Reads a workbook in this thread. Throws an `OpenError` if it has no such sheet, or is damaged or too large. */
export const readWorkbook: WorkbookReader = async (bytes, sheet) => {
  try {
    return await openWorkbook(bytes, sheet)
  } catch (error) {
    if (error instanceof OpenError) throw error
    throw new OpenError(
      'this cannot be read as a workbook: it is damaged, protected by a password, or another ZIP file',
    )
  }
}
