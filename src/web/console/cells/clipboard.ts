// Copies cells and rows as tab-separated text, and as an HTML table in which spreadsheets do not round ids.

import type { NewPlant } from '../../../client/client.ts'
import { TEXTS, withoutLastLineEnds } from '../texts.ts'

export type Grid = readonly (readonly string[])[]

// A quote inside of a text means nothing to spreadsheets.
const tsvCell = (text: string): string =>
  /^"|[\t\r\n]/.test(text) ? `"${text.replaceAll('"', '""')}"` : text

/** The text of cells; of a single one as it is, as it may be pasted into any field. */
const textOf = (grid: Grid): string =>
  grid.length === 1 && grid[0]?.length === 1
    ? (grid[0][0] ?? '')
    : grid.map((row) => row.map(tsvCell).join('\t')).join('\n')

const ESCAPES: Readonly<Record<string, string>> = { '&': '&amp;', '<': '&lt;', '>': '&gt;' }
const escapeHtml = (text: string): string => text.replace(/[&<>]/g, (sign) => ESCAPES[sign] ?? sign)

// Excel reads such a cell as a text.
const htmlCell = (text: string): string =>
  `<td style="mso-number-format:'\\@'">${escapeHtml(text)}</td>`

// Has the cells copied here, which are pasted into cells; other rows are imported. Firefox drops custom clipboard types.
const OWN = /<table data-plantstore-cells="([^"]*)"/

function htmlOf(grid: Grid, areCells: boolean): string {
  const cells = encodeURIComponent(JSON.stringify(grid))
  const own = areCells ? ` data-plantstore-cells="${cells}"` : ''
  const rows = grid.map((row) => `<tr>${row.map(htmlCell).join('')}</tr>`)
  return `<table${own}>${rows.join('')}</table>`
}

/** The cells of a table that was copied here; null: other contents. */
function readOwnGrid(html: string): Grid | null {
  const [, encoded] = OWN.exec(html) ?? []
  return encoded === undefined ? null : JSON.parse(decodeURIComponent(encoded))
}

/** The cells of whole plants. */
export const gridOf = (plants: readonly NewPlant[]): Grid =>
  plants.map((plant) => [String(plant.id), ...TEXTS.map((text) => plant[text] ?? '')])

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

// A cell, perhaps in quotes, and what ends it.
const CELL = /("(?:[^"]|"")*"|[^\t\r\n]*)(\t|\r?\n|\r|$)/y

/** The cells of a text as spreadsheets copy it. */
function parseCells(text: string): Grid {
  const grid: string[][] = [[]]
  CELL.lastIndex = 0
  for (let end = '\t'; end !== ''; ) {
    const [, cell = '', after = ''] = CELL.exec(text) ?? []
    const isQuoted = cell.length > 1 && cell.startsWith('"') && cell.endsWith('"')
    grid.at(-1)?.push(isQuoted ? cell.slice(1, -1).replaceAll('""', '"') : cell)
    if (after !== '' && after !== '\t') grid.push([])
    end = after
  }
  return grid
}

/** The cells to paste into cells; null: rows from elsewhere, which are imported. */
export function readPastedGrid(data: DataTransfer | null, isRange: boolean): Grid | null {
  const own = readOwnGrid(data?.getData('text/html') ?? '')
  if (own) return own
  const text = withoutLastLineEnds(data?.getData('text/plain') ?? '')
  if (text === '') return null
  const grid = /[\t\r\n]/.test(text) ? parseCells(text) : [[text]]
  return isRange || grid.length === 1 ? grid : null
}
