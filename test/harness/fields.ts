// The fields of a plant beyond those that a test names: a new field changes no test.
import { FIELDS, listWords, OPTIONAL_TEXTS } from '../../src/plant/plant'

const isOther = (name: string): boolean => name !== 'tag'

/** The optional texts beyond `tag`. */
export const OTHER_TEXTS: readonly string[] = OPTIONAL_TEXTS.filter(isOther)

/** An empty cell of each, at the end of a line of CSV. */
export const OTHER_CELLS = ','.repeat(OTHER_TEXTS.length)

/** The first line of an exported CSV. */
export const CSV_HEADER = FIELDS.join()

/** Their columns in SQL, after others. */
export const OTHER_COLUMNS = OTHER_TEXTS.map((name) => `, ${name} TEXT`).join('')

/** What a message expects of a plant. */
export const PLANT_WORDS = listWords([
  'id',
  'name',
  ...OPTIONAL_TEXTS.map((name) => `an optional ${name}`),
])

/** The end of a summary of an import: its file lacks columns for all optional texts but these. */
export function keptNote(...columns: readonly string[]): string {
  const kept = OPTIONAL_TEXTS.filter((name) => !columns.includes(name))
  if (kept.length === 0) return ''
  return `; stored plants keep their ${listWords(kept)}: no column of the file has it`
}
