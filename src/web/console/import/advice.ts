import { OpenError } from '../../../errors.ts'
import type { Advice } from '../../../formats/advice.ts'

/** Names the labels of the form. */
export const FORM_ADVICE: Advice = {
  numbering: 'choose "Number the rows" as the ID',
  missing: (text) => `type ${text} as the text of empty cells to leave it out`,
  encoding: (guess) =>
    guess === null ? 'choose another encoding' : `choose another encoding, such as ${guess}`,
  reading: 'save its list as a file of its own',
  lists: () => 'choose a list',
  workbook: (ending) => `rename it to ${ending}`,
}

/** The reason that a file cannot be read. */
export const reasonOf = (error: unknown): string =>
  error instanceof OpenError ? error.message : 'the file cannot be read'
