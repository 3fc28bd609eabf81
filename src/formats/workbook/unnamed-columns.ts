// Cells of a workbook right of the last heading, such as a note or another table. They are left out, with a notice.

import { listColumns } from '../header'
import type { Cell, FileRow } from '../row'

const isFilled = (cell: Cell): boolean => cell !== null && cell !== ''

/** Trims rows to the width of their header. */
export function createTrimmer(width: number) {
  const columns = new Set<number>()

  return {
    /** The row up to the last heading, or null if it is empty. */
    trim(row: FileRow): FileRow | null {
      const cells = row.cells as readonly Cell[]
      if (cells.length <= width) return row
      for (let column = width; column < cells.length; column++) {
        if (isFilled(cells[column] ?? null)) columns.add(column)
      }
      const own = cells.slice(0, width)
      return own.some(isFilled) ? { ...row, cells: own } : null
    },

    /** The notice about the columns that were not read; empty: all were. */
    explain(): string[] {
      if (columns.size === 0) return []
      return [
        `not read, without a heading: ${listColumns(
          [],
          [...columns].toSorted((a, b) => a - b),
        )}`,
      ]
    },
  }
}
