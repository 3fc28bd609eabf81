// Bytes -> rows, for Excel workbooks (.xlsx; ECMA-376).

import { OpenError } from '../errors'
import { concat } from './encoding'
import type { Line, NumberCell } from './row'

/** The largest workbook that is read: a hundred thousand plants are about 3 MB, and need about 250 MB of memory. */
export const MAX_WORKBOOK_BYTES = 20_000_000

type Cell = string | NumberCell | boolean | Date | null

const pad = (number: number): string => String(number).padStart(2, '0')

/** A date, and its time of day if it has one, as ISO 8601 writes it. */
function showDate(date: Date): string {
  const day = `${date.getUTCFullYear()}-${pad(date.getUTCMonth() + 1)}-${pad(date.getUTCDate())}`
  const time = `${pad(date.getUTCHours())}:${pad(date.getUTCMinutes())}`
  return time === '00:00' ? day : `${day} ${time}`
}

/** A cell as a text, but a number as it is in the file: only an id tells whether it is exact. */
function toCell(cell: Cell): string | NumberCell | null {
  if (cell instanceof Date) return showDate(cell)
  if (typeof cell === 'boolean') return cell ? 'TRUE' : 'FALSE'
  return cell === '' ? null : cell
}

/** The name of a cell, such as B4; `column` counts from 0. */
export function nameCell(line: number, column: number): string {
  let letters = ''
  for (let rest = column; rest >= 0; rest = Math.floor(rest / 26) - 1) {
    letters = String.fromCharCode(65 + (rest % 26)) + letters
  }
  return `${letters}${line}`
}

async function collect(stream: AsyncIterable<Uint8Array>): Promise<Uint8Array> {
  const parts: Uint8Array[] = []
  let length = 0
  for await (const part of stream) {
    length += part.length
    if (length > MAX_WORKBOOK_BYTES) {
      throw new OpenError(
        `the workbook is larger than ${MAX_WORKBOOK_BYTES / 1_000_000} MB; save the sheet as CSV`,
      )
    }
    parts.push(part.slice())
  }
  return concat(parts)
}

export type Workbook = {
  readonly sheets: readonly string[]
  readonly sheet: string
  readonly rows: readonly Line[]
}

/** Reads a sheet of a workbook: the one of this name, or the first. Throws an `OpenError` if there is none, or it is damaged. */
export async function readWorkbook(
  stream: AsyncIterable<Uint8Array>,
  sheet: string | null,
): Promise<Workbook> {
  const bytes = await collect(stream)
  // Loaded only if a workbook is read.
  const { default: read } = await import('read-excel-file/universal')
  const toNumber = (number: string): NumberCell => ({ number })
  const found = await read(bytes.slice().buffer, { parseNumber: toNumber, trim: false }).catch(
    (error: Error) => {
      throw new OpenError(`the workbook cannot be read: ${error.message}`)
    },
  )
  const sheets = found.map(({ sheet: name }) => name)
  const chosen = sheet === null ? found[0] : found.find(({ sheet: name }) => name === sheet)
  if (!chosen) {
    throw new OpenError(
      `no sheet ${JSON.stringify(sheet)}; the sheets are ${sheets.map((name) => JSON.stringify(name)).join(', ')}`,
    )
  }
  const rows = chosen.data
    .map((cells, index) => ({ line: index + 1, cells: (cells as Cell[]).map(toCell) }))
    .filter(({ cells }) =>
      cells.some((cell) => cell !== null && (typeof cell !== 'string' || cell.trim() !== '')),
    )
  return { sheets, sheet: chosen.sheet, rows }
}
