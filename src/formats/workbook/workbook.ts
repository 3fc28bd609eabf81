// Bytes -> rows, for workbooks: Excel's (.xlsx, .xlsm, .xlsb, .xls) and OpenDocument's (.ods).

import { OpenError } from '../../errors'
import { concat } from '../bytes'
import type { Line } from '../row'
import { repairPart } from './repair'
import type { HiddenParts } from './sheet'
import { isWholePart } from './whole-part'
import { unzip } from './zip'

/** The limits of a workbook, packed and unpacked. 450,000 plants have 6 MB and 60 MB, and need 0.6 GB of memory. */
const MAX_PACKED_BYTES = 50_000_000
const MAX_UNPACKED_BYTES = 250_000_000
export const TOO_LARGE = 'save the sheet as CSV, which may have any size'

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
    if (length > MAX_PACKED_BYTES) {
      throw new OpenError(
        `the workbook is larger than ${MAX_PACKED_BYTES / 1_000_000} MB; ${TOO_LARGE}`,
      )
    }
    parts.push(part.slice())
  }
  return concat(parts)
}

// Pictures, macros, drawings and embedded documents contain no cells.
const READ_PARTS = /\.(xml|rels|bin)$/i
const NO_CELLS =
  /(^|\/)(media|drawings|charts|customXml|embeddings|printerSettings|docProps|Thumbnails|Object \d+)\/|vbaProject/i

const UTF8 = new TextDecoder()
const STYLES = 'styles.xml'
const NO_STYLES = new TextEncoder().encode('<office:document-styles/>')

/** The number of filled rows that a filter or the user hides in a table of OpenDocument. */
function countHiddenRows(table: string): number {
  let count = 0
  for (const row of table.split('<table:table-row ').slice(1)) {
    const tag = row.slice(0, row.indexOf('>'))
    const [cells = ''] = row.split('</table:table-row>', 1)
    if (!/table:visibility="(filter|collapse)"/.test(tag) || !cells.includes(' office:value-type='))
      continue
    const [, repeated = 1] = /table:number-rows-repeated="(\d+)"/.exec(tag) ?? []
    count += Number(repeated)
  }
  return count
}

/** The indexes of sheets that OpenDocument hides by style, and the hidden rows of each sheet. `content`: `content.xml`. */
function hiddenParts(content: Uint8Array | undefined): HiddenParts {
  const [styles = '', ...tables] = UTF8.decode(content).split('<table:table ')
  const hiddenStyles = new Set(
    styles.split('<style:style ').flatMap((style) => {
      const [, name] = /style:name="([^"]*)"/.exec(style) ?? []
      return name !== undefined && style.includes('table:display="false"') ? [name] : []
    }),
  )
  const sheets = tables.flatMap((table, index) => {
    const tag = table.slice(0, table.indexOf('>'))
    const [, style = ''] = /table:style-name="([^"]*)"/.exec(tag) ?? []
    return hiddenStyles.has(style) ? [index] : []
  })
  return { sheets: new Set(sheets), rows: tables.map(countHiddenRows) }
}

const PROTECTED = 'it is protected by a password; save it without one'

const ZIP = 0x504b0304

const isZip = (bytes: Uint8Array): boolean =>
  bytes.length > 4 && new DataView(bytes.buffer, bytes.byteOffset).getUint32(0) === ZIP

async function openWorkbook(bytes: Uint8Array, sheet: string | null): Promise<Workbook> {
  const { readSheet } = await import('./sheet')
  if (!isZip(bytes)) return readSheet(bytes, sheet, { sheets: new Set(), rows: [] })
  const isWanted = (name: string) => READ_PARTS.test(name) && !NO_CELLS.test(name)
  const parts = await unzip(bytes, MAX_UNPACKED_BYTES, isWanted)
  if (parts === null) {
    throw new OpenError(
      `the workbook is larger than ${MAX_UNPACKED_BYTES / 1_000_000} MB when it is unpacked; ${TOO_LARGE}`,
    )
  }
  if (UTF8.decode(parts.get('META-INF/manifest.xml')).includes(':encryption-data')) {
    throw new OpenError(`the workbook cannot be read: ${PROTECTED}`)
  }
  for (const [name, part] of parts) {
    if (!isWholePart(name, part)) throw new OpenError(`the workbook is damaged: ${name} is cut off`)
  }
  const content = parts.get('content.xml')
  const repaired = new Map([...parts].map(([name, part]) => [name, repairPart(name, part)]))
  // SheetJS fails on OpenDocument without styles.
  if (content && !repaired.has(STYLES)) repaired.set(STYLES, NO_STYLES)
  return readSheet(repaired, sheet, hiddenParts(content))
}

/** The reason that SheetJS cannot read a workbook. */
const explainFailure = (error: unknown): string =>
  error instanceof Error && /password|encrypt/i.test(error.message) ? PROTECTED : 'it is damaged'

/** Reads a workbook in this thread. Throws an `OpenError` if it has no such sheet, or is damaged or too large. */
export const readWorkbook: WorkbookReader = async (bytes, sheet) => {
  try {
    return await openWorkbook(bytes, sheet)
  } catch (error) {
    if (error instanceof OpenError) throw error
    throw new OpenError(`the workbook cannot be read: ${explainFailure(error)}`)
  }
}
