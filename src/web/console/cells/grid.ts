// Cells as tab-separated text, and as an HTML table in which spreadsheets do not round ids.

import type { NewPlant } from '../../../client/client.ts'
import { TEXTS, withoutLastLineEnds } from '../texts.ts'

export type Grid = readonly (readonly string[])[]

// A quote inside of a text means nothing to spreadsheets.
const tsvCell = (text: string): string =>
  /^"|[\t\r\n]/.test(text) ? `"${text.replaceAll('"', '""')}"` : text

/** The text of cells; of a single one as it is, as it may be pasted into any field. */
export const textOf = (grid: Grid): string =>
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

/** The table of cells. `areCells`: it can be pasted into cells. */
export function htmlOf(grid: Grid, areCells: boolean): string {
  const cells = encodeURIComponent(JSON.stringify(grid))
  const own = areCells ? ` data-plantstore-cells="${cells}"` : ''
  const rows = grid.map((row) => `<tr>${row.map(htmlCell).join('')}</tr>`)
  return `<table${own}>${rows.join('')}</table>`
}

const isGrid = (value: unknown): value is Grid =>
  Array.isArray(value) &&
  value.length > 0 &&
  value.every((row) => Array.isArray(row) && row.every((cell) => typeof cell === 'string'))

/** The cells of a table that was copied here; null for other contents. Any page may have filled the clipboard. */
function readOwnGrid(html: string): Grid | null {
  const [, encoded = ''] = OWN.exec(html) ?? []
  try {
    const grid: unknown = JSON.parse(decodeURIComponent(encoded))
    return isGrid(grid) ? grid : null
  } catch {
    return null
  }
}

/** The cells of whole plants. */
export const gridOf = (plants: readonly NewPlant[]): Grid =>
  plants.map((plant) => [String(plant.id), ...TEXTS.map((text) => plant[text] ?? '')])

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

/** The cells to paste into cells; null for rows from elsewhere, which are imported. */
export function readPastedGrid(text: string, html: string, isRange: boolean): Grid | null {
  const own = readOwnGrid(html)
  if (own) return own
  const line = withoutLastLineEnds(text)
  if (line === '') return null
  const grid = /[\t\r\n]/.test(line) ? parseCells(line) : [[line]]
  return isRange || grid.length === 1 ? grid : null
}
