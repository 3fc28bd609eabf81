// What a user is told to use, in messages about a file: options of the command, or what a page calls them.

export type Words = {
  /** What numbers the rows. */
  readonly numbering: string
  /** What to do about another encoding; null: there is no guess. */
  readonly encoding: (guess: string | null) => string
  /** What to do about a workbook with another name. */
  readonly workbook: string
}

export const optionWords: Words = {
  numbering: '--number-from',
  encoding: (guess) =>
    guess === null ? 'try another --encoding' : `use --encoding ${guess}, or whichever it is`,
  workbook: 'rename it to .xlsx, or use --format xlsx',
}
