// Copies cells and rows as text between tabs, and as a table whose ids no spreadsheet rounds.

import type { NewPlant } from '../../../client/client.ts'
import { TEXTS, withoutLastLineEnds } from '../texts.ts'

/** The type of cells that were copied here: they are pasted in place, other rows as an import. */
export const CELLS = 'application/x-plantstore-cells'

export type Grid = readonly (readonly string[])[]

const plain = (text: string): string =>
  /[\t\r\n"]/.test(text) ? `"${text.replaceAll('"', '""')}"` : text

const ESCAPES: Readonly<Record<string, string>> = { '&': '&amp;', '<': '&lt;', '>': '&gt;' }
const escaped = (text: string): string => text.replace(/[&<>]/g, (sign) => ESCAPES[sign] ?? sign)

// Excel reads such a cell as a text.
const htmlCell = (text: string): string =>
  `<td style="mso-number-format:'\\@'">${escaped(text)}</td>`

const htmlOf = (grid: Grid): string =>
  `<table>${grid.map((row) => `<tr>${row.map(htmlCell).join('')}</tr>`).join('')}</table>`

/** The cells of whole plants. */
export const rowsOf = (plants: readonly NewPlant[]): Grid =>
  plants.map((plant) => [String(plant.id), ...TEXTS.map((text) => plant[text] ?? '')])

/** Puts cells on the clipboard; `areCells`: they can be pasted over others. */
export function copyGrid(grid: Grid, areCells: boolean): void {
  const text = grid.map((row) => row.map(plain).join('\t')).join('\n')
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

/** The cells of a paste that belong into cells; null: lines from elsewhere, to import as rows. */
export function pastedGrid(data: DataTransfer | null, isRange: boolean): Grid | null {
  const own = data?.getData(CELLS)
  if (own) return JSON.parse(own)
  const text = withoutLastLineEnds(data?.getData('text/plain') ?? '')
  if (text === '') return null
  const lines = text.split(/\r?\n/)
  if (lines.length > 1 && !isRange) return null
  return isRange ? lines.map((line) => line.split('\t')) : [[text]]
}
