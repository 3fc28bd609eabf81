// Plants -> text: how files of plants are written.

import { exactNumber, FIELDS, type OptionalText, type Plant, TEXT_FIELDS } from '../plant/plant'
import type { WrittenFormat } from './format'

/** A plant to write; a text that is undefined is absent. */
export type PlantToWrite = Pick<Plant, 'id' | 'name'> & {
  readonly [Name in OptionalText]?: string | undefined
}

/** The line of a plant as JSON. */
function ndjsonLine(plant: PlantToWrite): string {
  const id = exactNumber(plant.id)
  // A larger id needs raw JSON, which not every browser has; writing all ids so would take twice the time.
  return id === null
    ? `{"id":${plant.id},${JSON.stringify({ ...plant, id: undefined }).slice(1)}\n`
    : `${JSON.stringify({ ...plant, id })}\n`
}

/** A cell of CSV. An empty text is quoted, to tell it from an absent one. */
export function csvCell(text: string | null | undefined): string {
  if (text === undefined || text === null) return ''
  const isQuoted = text === '' || /[",\r\n]|^\s|\s$|^\ufeff/.test(text)
  return isQuoted ? `"${text.replaceAll('"', '""')}"` : text
}

const CSV_HEADER = `${FIELDS.join(',')}\n`

const csvLine = (plant: PlantToWrite): string =>
  `${plant.id},${TEXT_FIELDS.map((name) => csvCell(plant[name])).join(',')}\n`

// Characters that begin a formula in a spreadsheet (OWASP, "CSV Injection").
const FORMULA = /^[=+\-@\t\r\n＝＋－＠]/

/** A CSV line that is safe to open in a spreadsheet: formulas are prefixed with an apostrophe. */
const inertCsvLine = (plant: PlantToWrite): string => {
  const texts = TEXT_FIELDS.map((name) => [name, plant[name]?.replace(FORMULA, "'$&")])
  return csvLine({ ...plant, ...Object.fromEntries(texts) })
}

/** A writer of plants: the beginning of its file, and the line of each plant. */
export type Writer = { readonly header: string; readonly line: (plant: PlantToWrite) => string }

export const WRITERS = {
  ndjson: { header: '', line: ndjsonLine },
  csv: { header: CSV_HEADER, line: csvLine },
  /** CSV for spreadsheets: nothing in it is run as a formula. Excel takes CSV without a byte order mark for its own code page. */
  inert: { header: `\ufeff${CSV_HEADER}`, line: inertCsvLine },
} satisfies Record<WrittenFormat | 'inert', Writer>
