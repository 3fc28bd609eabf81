// Collects the refused rows of an import: grouped by cause for the page, and all of them as a file.

import type { Columns } from '../../../formats/columns.ts'
import { createRefusedWriter } from '../../../formats/refused.ts'
import type { RowEntry } from '../../../formats/row.ts'
import type { Table } from '../../../formats/table.ts'
import type { Refusal } from './refused-groups.ts'
import { createGroups } from './refused-groups.ts'
import type { ImportContext } from './state.ts'

export type RefusedRow = Refusal & Pick<RowEntry, 'source' | 'rowIndex'>

export function createRefusals(
  table: Omit<Table, 'lines'>,
  columns: Columns,
  update: ImportContext['update'],
) {
  const writer = createRefusedWriter(table, columns)
  const texts: BlobPart[] = []
  const addToGroups = createGroups()
  return (rows: readonly RefusedRow[]): void => {
    if (rows.length === 0) return
    const rowsByLine = rows.toSorted((a, b) => a.line - b.line)
    const text = rowsByLine.map((row) => writer.row(row.source, row.problem, row.rowIndex)).join('')
    texts.push(new Blob([texts.length === 0 ? writer.header + text : text]))
    const groups = addToGroups(rowsByLine)
    update(({ refused }) => ({
      refused: refused + rowsByLine.length,
      groups,
      refusedRows: () => new Blob(texts),
    }))
  }
}
