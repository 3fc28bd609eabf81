// What a user is told to use, in messages about a file: options of the command, or what a page calls them.

export type Words = {
  /** What numbers the rows. */
  readonly numbering: string
  /** What to do about another encoding; null: there is no guess. */
  readonly encoding: (guess: string | null) => string
  /** What to do about a workbook with another name; `ending`: of its kind. */
  readonly workbook: (ending: string) => string
  /** What to do about several lists in a JSON document. `all`: the path of all of them; null: there is none. */
  readonly lists: (all: string | null) => string
  /** What to do about a JSON document that is too long to look for its lists. */
  readonly reading: string
}

export const optionWords: Words = {
  reading: 'name its list with --list, or save it to a file and import that',
  numbering: '--number-from',
  encoding: (guess) =>
    guess === null ? 'try another --encoding' : `use --encoding ${guess}, or whichever it is`,
  workbook: (ending) => `rename it to ${ending}, or use --format xlsx`,
  lists: (all) =>
    `name one with --list${all === null ? '' : `, or read all of them with --list '${all}'`}`,
}
