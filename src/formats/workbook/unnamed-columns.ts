// Cells of a workbook right of the last heading, such as a note or another table. They are left out, with a notice.

import { listWords } from '../../plant/plant'
import type { Cell, FileRow } from '../row'

const MAX_NAMED = 12

const isFilled = (cell: Cell): boolean => cell !== null && cell !== ''

/** Trims rows to the width of their header. */
export function createTrimmer(width: number) {
  const columns = new Set<number>()

  return {
    /** The row up to the last heading; null: it is empty. */
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
      const all = [...columns].toSorted((a, b) => a - b)
      const more = all.length - MAX_NAMED
      const names = all.slice(0, MAX_NAMED).map((column) => String(column + 1))
      const list = listWords(more > 0 ? [...names, `${more} more`] : names)
      if (all.length === 0) return []
      return all.length === 1
        ? [`column ${list} was not read: it has no heading`]
        : [`columns ${list} were not read: they have no heading`]
    },
  }
}
