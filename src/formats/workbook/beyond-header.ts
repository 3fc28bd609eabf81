// The cells of a workbook right of the last heading, such as a note or another table: they are left out, and named.

import { listWords } from '../../plant/plant'
import type { Cell, FileRow } from '../row'

const MAX_NAMED = 12

const isFilled = (cell: Cell): boolean => cell !== null && cell !== ''

export function createCut(width: number) {
  const places = new Set<number>()

  return {
    /** A row without those cells; null: it has no others. */
    cut(row: FileRow): FileRow | null {
      const cells = row.cells as readonly Cell[]
      if (cells.length <= width) return row
      for (let place = width; place < cells.length; place++) {
        if (isFilled(cells[place] ?? null)) places.add(place)
      }
      const own = cells.slice(0, width)
      return own.some(isFilled) ? { ...row, cells: own } : null
    },

    /** Says which columns were not read; null: all were. */
    explain(): string | null {
      const all = [...places].toSorted((a, b) => a - b)
      const more = all.length - MAX_NAMED
      const names = all.slice(0, MAX_NAMED).map((place) => String(place + 1))
      const list = listWords(more > 0 ? [...names, `${more} more`] : names)
      if (all.length === 0) return null
      return all.length === 1
        ? `column ${list} was not read: it has no heading`
        : `columns ${list} were not read: they have no heading`
    },
  }
}
