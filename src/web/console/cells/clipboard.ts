// Copies cells and rows as tab-separated text, and as an HTML table in which spreadsheets do not round ids.

import type { NewPlant } from '../../../client/client.ts'
import { TEXTS, withoutLastLineEnds } from '../texts.ts'

/** The clipboard type of cells copied here, which are pasted into cells; other rows are imported. */
export const CELLS = 'application/x-plantstore-cells'

export type Grid = readonly (readonly string[])[]

const tsvCell = (text: string): string =>
  /[\t\r\n"]/.test(text) ? `"${text.replaceAll('"', '""')}"` : text

const ESCAPES: Readonly<Record<string, string>> = { '&': '&amp;', '<': '&lt;', '>': '&gt;' }
const escapeHtml = (text: string): string => text.replace(/[&<>]/g, (sign) => ESCAPES[sign] ?? sign)

// Excel reads such a cell as a text.
const htmlCell = (text: string): string =>
  `<td style="mso-number-format:'\\@'">${escapeHtml(text)}</td>`

const htmlOf = (grid: Grid): string =>
  `<table>${grid.map((row) => `<tr>${row.map(htmlCell).join('')}</tr>`).join('')}</table>`

/** The cells of whole plants. */
export const gridOf = (plants: readonly NewPlant[]): Grid =>
  plants.map((plant) => [String(plant.id), ...TEXTS.map((text) => plant[text] ?? '')])

/** Copies a grid to the clipboard. `areCells`: it can be pasted into cells. */
export function copyGrid(grid: Grid, areCells: boolean): void {
  const text = grid.map((row) => row.map(tsvCell).join('\t')).join('\n')
  const fill = (event: ClipboardEvent): void => {
    event.clipboardData?.setData('text/plain', text)
    event.clipboardData?.setData('text/html', htmlOf(grid))
    if (areCells) event.clipboardData?.setData(CELLS, JSON.stringify(grid))
    event.preventDefault()
    event.stopImmediatePropagation()
  }
  addEventListener('copy', fill, { once: true, capture: true })
  // Some browsers copy only a selection.
  if (!document.execCommand('copy')) void navigator.clipboard?.writeText(text)
  removeEventListener('copy', fill, { capture: true })
}

/** The cells to paste into cells; null: lines from elsewhere, which are imported as rows. */
export function readPastedGrid(data: DataTransfer | null, isRange: boolean): Grid | null {
  const copiedCells = data?.getData(CELLS)
  if (copiedCells) return JSON.parse(copiedCells)
  const text = withoutLastLineEnds(data?.getData('text/plain') ?? '')
  if (text === '') return null
  const lines = text.split(/\r?\n/)
  if (lines.length > 1 && !isRange) return null
  return isRange ? lines.map((line) => line.split('\t')) : [[text]]
}
