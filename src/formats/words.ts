// The words of messages about a file: options of the command, or their names on a page.

export type Words = {
  /** The advice to number the rows. */
  readonly numbering: string
  /** The advice for another encoding; null: there is no guess. */
  readonly encoding: (guess: string | null) => string
  /** The advice for a workbook with another name; `ending`: of its kind. */
  readonly workbook: (ending: string) => string
  /** The advice for lists in a JSON document, by their paths. `all`: the path of all of them; null: there is none. */
  readonly lists: (paths: readonly string[], all: string | null) => string
  /** The advice for a JSON document that is too long to search for lists. */
  readonly reading: string
}

export const OPTION_WORDS: Words = {
  reading: 'name its list with --list, or save it to a file and import that',
  numbering: 'use --number-from to number the rows',
  encoding: (guess) =>
    guess === null
      ? 'name its encoding with --encoding'
      : `use --encoding ${guess}, or whichever it is`,
  workbook: (ending) => `rename it to ${ending}, or use --format xlsx`,
  lists: (paths, all) =>
    paths.length === 0
      ? `read them with --list '${all}'`
      : `name one with --list${all === null ? '' : `, or read all of them with --list '${all}'`}`,
}
