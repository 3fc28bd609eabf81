// The refused rows of an import: the first ones for the page, all of them as a file.

import type { Columns } from '../../../formats/columns.ts'
import { createRefusedWriter } from '../../../formats/refused.ts'
import type { Entry } from '../../../formats/row.ts'
import type { Table } from '../../../formats/table.ts'
import type { Import, Refused } from './state.ts'

const MAX_LISTED = 1000

/** An entry and its number among all rows, from 0. */
export type PlacedRow = {
  readonly entry: Exclude<Entry, { stop: string }>
  readonly place: bigint
}
export type RefusedRow = Refused & PlacedRow

export function createRefusals(
  table: Omit<Table, 'lines'>,
  columns: Columns,
  update: (change: (before: Import) => Partial<Import>) => void,
) {
  const writer = createRefusedWriter(table, columns)
  const texts: BlobPart[] = []
  return (rows: readonly RefusedRow[]): void => {
    if (rows.length === 0) return
    const sorted = rows.toSorted((a, b) => a.line - b.line)
    const text = sorted.map((it) => writer.row(it.entry.source, it.problem, it.place)).join('')
    texts.push(new Blob([texts.length === 0 ? writer.header + text : text]))
    const listed = sorted.map(({ line, problem }) => ({ line, problem }))
    update(({ refused, lines }) => ({
      refused: refused + sorted.length,
      lines: [...lines, ...listed].slice(0, MAX_LISTED),
      refusedRows: () => new Blob(texts),
    }))
  }
}
