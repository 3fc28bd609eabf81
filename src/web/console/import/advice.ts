import { OpenError } from '../../../errors.ts'
import type { Advice } from '../../../formats/advice.ts'
import { Question } from '../../../formats/question.ts'

/** Names the labels of the form. */
export const FORM_ADVICE: Advice = {
  numbering: 'choose "Number the rows" as the ID',
  missing: (text) => `type ${text} as the text of empty cells to leave it out`,
  count: (number) => number.toLocaleString(),
}

/** The reason that a file cannot be read. */
export function reasonOf(error: unknown): string {
  if (!(error instanceof OpenError)) return 'the file cannot be read'
  const isOfEncoding = error instanceof Question && 'encoding' in error.settings
  return isOfEncoding ? `${error.message}; choose another encoding` : error.message
}
