// Plants -> a workbook (.xlsx). Loaded only if one is written.

import { utils, write } from '@e965/xlsx'
import { OpenError } from '../../errors'
import { FIELDS, TEXT_FIELDS } from '../../plant/plant'
import type { PlantToWrite } from '../write'

/** The maximum characters of a cell in Excel. */
const MAX_CHARACTERS = 32_767
/** The widest column, in characters. */
const MAX_WIDTH = 60

/** Escapes a text such as `_x0041_`, which a workbook would read as `A` (ECMA-376, part 1, section 22.4.2.4). */
const escapeText = (text: string): string => text.replace(/_(x[\da-f]{4})/gi, '_x005F_$1')

/** The row of a plant. Its id is a text, since a number of a workbook has 53 bits; a text is never a formula. */
const rowOf = (plant: PlantToWrite): (string | null)[] => [
  String(plant.id),
  ...TEXT_FIELDS.map((name) => {
    const text = plant[name]
    if (text === undefined) return null
    if (text.length <= MAX_CHARACTERS) return escapeText(text)
    throw new OpenError(`the ${name} of plant ${plant.id} is too long for a cell; export CSV`)
  }),
]

/** True if an import reads a text of a workbook as it was: not an empty one, nor a carriage return. */
const isKept = (text: string | undefined): boolean =>
  text === undefined || (text !== '' && !text.includes('\r'))

/** The plants whose texts a workbook would alter. */
export const changedPlants = <P extends PlantToWrite>(plants: readonly P[]): readonly P[] =>
  plants.filter((plant) => !TEXT_FIELDS.every((name) => isKept(plant[name])))

// Characters that take the width of two.
const WIDE = /[\u2e80-\ud7ff\uf900-\ufaff\uff00-\uff60]/g

const widthOf = (text: string): number => text.length + (text.match(WIDE)?.length ?? 0)

/** The columns, each as wide as its widest cell, up to a limit. */
function columnsOf(rows: readonly (readonly (string | null)[])[]): { wch: number }[] {
  const widths = FIELDS.map(() => 0)
  for (const row of rows) {
    for (const [column, text] of row.entries()) {
      const width = widths[column] ?? 0
      if (text !== null && width < MAX_WIDTH) widths[column] = Math.max(width, widthOf(text))
    }
  }
  // Half a character of space on each side.
  return widths.map((width) => ({ wch: Math.min(width, MAX_WIDTH) + 1 }))
}

/** Writes a workbook with a sheet of plants, and a header. */
export function writeWorkbook(plants: readonly PlantToWrite[]): Uint8Array<ArrayBuffer> {
  const rows = [[...FIELDS], ...plants.map(rowOf)]
  const sheet = utils.aoa_to_sheet(rows)
  sheet['!cols'] = columnsOf(rows)
  const book = utils.book_new(sheet, 'Plants')
  return new Uint8Array(
    write(book, { type: 'array', bookType: 'xlsx', compression: true, bookSST: true }),
  )
}
