// Plants -> a workbook (.xlsx). Loaded only if one is written.

import { utils, write } from '@e965/xlsx'
import { FIELDS, TEXT_FIELDS } from '../plant/plant'
import type { PlantToWrite } from './write'

/** SheetJS makes a workbook in one call, which takes about a second for this many plants. */
export const MAX_PLANTS = 100_000

/** The row of a plant. Its id is a text, since a number of a workbook has 53 bits; a text is never a formula. */
const rowOf = (plant: PlantToWrite): (string | null)[] => [
  String(plant.id),
  ...TEXT_FIELDS.map((name) => plant[name] ?? null),
]

/** Writes a workbook with a sheet of plants, and a header. */
export function writeWorkbook(plants: readonly PlantToWrite[]): Uint8Array<ArrayBuffer> {
  const sheet = utils.aoa_to_sheet([[...FIELDS], ...plants.map(rowOf)])
  const book = utils.book_new(sheet, 'Plants')
  return new Uint8Array(write(book, { type: 'array', bookType: 'xlsx', compression: true }))
}
