// The refused rows of an import: by their causes for the page, all of them as a file.

import type { Columns } from '../../../formats/columns.ts'
import { createRefusedWriter } from '../../../formats/refused.ts'
import type { Entry } from '../../../formats/row.ts'
import type { Table } from '../../../formats/table.ts'
import type { Refusal } from './refused-groups.ts'
import { createGroups } from './refused-groups.ts'
import type { Import } from './state.ts'

/** An entry and its number among all rows, from 0. */
export type PlacedRow = {
  readonly entry: Exclude<Entry, { stop: string }>
  readonly place: number
}
export type RefusedRow = Refusal & PlacedRow

export function createRefusals(
  table: Omit<Table, 'lines'>,
  columns: Columns,
  update: (change: (before: Import) => Partial<Import>) => void,
) {
  const writer = createRefusedWriter(table, columns)
  const texts: BlobPart[] = []
  const group = createGroups()
  return (rows: readonly RefusedRow[]): void => {
    if (rows.length === 0) return
    const sortedRows = rows.toSorted((a, b) => a.line - b.line)
    const text = sortedRows
      .map((row) => writer.row(row.entry.source, row.problem, row.place))
      .join('')
    texts.push(new Blob([texts.length === 0 ? writer.header + text : text]))
    const groups = group(sortedRows)
    update(({ refused }) => ({
      refused: refused + sortedRows.length,
      groups,
      refusedRows: () => new Blob(texts),
    }))
  }
}
