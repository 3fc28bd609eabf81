// Refused rows -> text: unchanged, plus a reason column, ready to fix and import again.

import { exactNumber } from '../plant/plant'
import type { Columns } from './columns'
import type { WrittenFormat } from './format'
import { nameColumn, normalize } from './header'
import type { Cell, FileRow, Unreadable } from './row'
import type { Table } from './table'
import { csvCell } from './write'

const REASON = 'reason'

export type RefusedWriter = {
  readonly format: WrittenFormat
  readonly header: string
  /** The text of a row. `place`: its number among all rows, from 0. */
  row(source: FileRow | Unreadable, reason: string, place: number): string
  /** The options that import what is written, besides those of the columns. */
  readonly idColumn: string | null
  /** The name of a column in the file of refused rows. `place`: its place in the file that was read. */
  nameOf(place: number): string
}

/** The text of a cell as it is read again: an id has its exact number, a text what the cell shows. */
function textOf(cell: Cell | undefined, isId: boolean): string | null {
  if (cell === null || cell === undefined) return null
  if (typeof cell === 'string') return cell
  if ('error' in cell) return cell.error
  return isId ? cell.number : cell.text
}

const replaceBigInt = (_: string, value: unknown) =>
  typeof value === 'bigint' ? (exactNumber(value) ?? JSON.rawJSON(String(value))) : value

/** Writes refused rows: of JSON as lines of JSON, of anything else as CSV. Rows that are numbered get their number as a column. */
export function createRefusedWriter(
  { format, header, isNamed }: Omit<Table, 'lines'>,
  { id: idPlace, numberFrom }: Columns,
): RefusedWriter {
  const names = header.map(normalize)
  const free = (name: string): string => (names.includes(name) ? free(`${name}_`) : name)
  const reasonColumn = free(REASON)
  const idColumn = numberFrom === null ? null : free('id')
  const numberOf = (place: number) => (numberFrom === null ? 0n : numberFrom + BigInt(place))

  if (format === 'json' || format === 'ndjson') {
    return {
      format: 'ndjson',
      header: '',
      idColumn,
      nameOf: (place) => header[place] ?? '',
      row(source, reason, place) {
        const own = 'cells' in source ? source.cells : { text: source.text }
        const id = idColumn === null ? {} : { [idColumn]: numberOf(place) }
        return `${JSON.stringify({ ...id, ...own, [reasonColumn]: reason }, replaceBigInt)}\n`
      },
    }
  }
  const idHeader = idColumn === null ? [] : [idColumn]
  const titles = isNamed ? header : header.map((_, place) => `column ${place + 1}`)
  const line = (cells: readonly (string | null)[]) => `${cells.map(csvCell).join(',')}\n`
  const columnNames = [...idHeader, ...titles, reasonColumn]
  return {
    format: 'csv',
    header: line(columnNames),
    idColumn,
    // Its number has moved where the rows got ids.
    nameOf: (place) => nameColumn(columnNames, place + idHeader.length, true),
    row(source, reason, place) {
      const own =
        'cells' in source
          ? (source.cells as readonly Cell[]).map((cell, index) => textOf(cell, index === idPlace))
          : [source.text]
      const fullRow = [...own, ...Array(Math.max(0, header.length - own.length)).fill(null)]
      return line([...idHeader.map(() => String(numberOf(place))), ...fullRow, reason])
    },
  }
}
