// Copies cells and rows to the clipboard, and pastes cells from it.

import { type Grid, htmlOf, readPastedGrid, textOf } from './grid.ts'

/** Copies a grid to the clipboard. `areCells`: it can be pasted into cells. */
export function copyGrid(grid: Grid, areCells: boolean): void {
  const text = textOf(grid)
  const fill = (event: ClipboardEvent): void => {
    event.clipboardData?.setData('text/plain', text)
    event.clipboardData?.setData('text/html', htmlOf(grid, areCells))
    event.preventDefault()
    event.stopImmediatePropagation()
  }
  addEventListener('copy', fill, { once: true, capture: true })
  // Some browsers copy only a selection.
  if (!document.execCommand('copy')) void navigator.clipboard?.writeText(text)
  removeEventListener('copy', fill, { capture: true })
}

/** The cells to paste into cells; null: rows from elsewhere, which are imported. */
export const pastedGrid = (data: DataTransfer | null, isRange: boolean): Grid | null =>
  readPastedGrid(data?.getData('text/plain') ?? '', data?.getData('text/html') ?? '', isRange)
