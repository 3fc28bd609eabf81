// Refused rows -> text: unchanged, plus a reason column, ready to fix and import again.

import { exactNumber } from '../plant/plant'
import type { Columns } from './columns'
import type { WrittenFormat } from './format'
import { columnReference, normalize } from './header'
import type { Cell, FileRow, Unreadable } from './row'
import type { Table } from './table'
import { csvCell } from './write'

const REASON = 'reason'

export type RefusedWriter = {
  readonly format: WrittenFormat
  readonly header: string
  /** The text of a row. `rowIndex`: counted from 0 among all rows. */
  row(source: FileRow | Unreadable, reason: string, rowIndex: number): string
  /** The added column of ids, or null if the rows are not numbered. */
  readonly idColumn: string | null
  /** The name, in the file of refused rows, of a column of the original file. */
  nameOf(column: number): string
}

/** The text of a cell that reads back the same: the exact number of an id, otherwise the text that the cell shows. */
function textOf(cell: Cell | undefined, isId: boolean): string | null {
  if (cell === null || cell === undefined) return null
  if (typeof cell === 'string') return cell
  if ('error' in cell) return cell.error
  return isId ? cell.number : cell.text
}

const replaceBigInt = (_: string, value: unknown) =>
  typeof value === 'bigint' ? (exactNumber(value) ?? JSON.rawJSON(String(value))) : value

/** Writes refused rows: JSON as NDJSON, anything else as CSV. Numbered rows get their numbers as a column. */
export function createRefusedWriter(
  { format, header, isNamed }: Omit<Table, 'lines'>,
  { id: idIndex, numberFrom }: Columns,
): RefusedWriter {
  const names = header.map(normalize)
  const free = (name: string): string => (names.includes(name) ? free(`${name}_`) : name)
  const reasonColumn = free(REASON)
  const idColumn = numberFrom === null ? null : free('id')
  const numberOf = (rowIndex: number) => (numberFrom === null ? 0n : numberFrom + BigInt(rowIndex))

  if (format === 'json' || format === 'ndjson') {
    const nameOf = (column: number) => header[column] || `column ${column + 1}`
    const toObject = (cells: object): object =>
      Array.isArray(cells)
        ? Object.fromEntries(cells.map((cell, column) => [nameOf(column), cell]))
        : cells
    return {
      format: 'ndjson',
      header: '',
      idColumn,
      nameOf,
      row(source, reason, rowIndex) {
        const own = 'cells' in source ? toObject(source.cells) : { text: source.text }
        const id = idColumn === null ? {} : { [idColumn]: numberOf(rowIndex) }
        return `${JSON.stringify({ ...id, ...own, [reasonColumn]: reason }, replaceBigInt)}\n`
      },
    }
  }
  const idHeader = idColumn === null ? [] : [idColumn]
  const titles = isNamed ? header : header.map((_, column) => `column ${column + 1}`)
  const line = (cells: readonly (string | null)[]) => `${cells.map(csvCell).join(',')}\n`
  const columnNames = [...idHeader, ...titles, reasonColumn]
  return {
    format: 'csv',
    header: line(columnNames),
    idColumn,
    // An added column of ids shifts the numbers of the others.
    nameOf: (column) => columnReference(columnNames, column + idHeader.length, true),
    row(source, reason, rowIndex) {
      const own =
        'cells' in source
          ? (source.cells as readonly Cell[]).map((cell, index) => textOf(cell, index === idIndex))
          : [source.text]
      const fullRow = [...own, ...Array(Math.max(0, header.length - own.length)).fill(null)]
      return line([...idHeader.map(() => String(numberOf(rowIndex))), ...fullRow, reason])
    },
  }
}
