// The advice in messages about a file: options of the command, or the labels of the page's form.

export type Advice = {
  /** To number the rows. */
  readonly numbering: string
  /** To leave out cells with a text that marks missing values. */
  readonly missing: (text: string) => string
  /** To choose another encoding; null: there is no guess. */
  readonly encoding: (guess: string | null) => string
  /** To rename a workbook. `ending`: the one of its kind. */
  readonly workbook: (ending: string) => string
  /** To choose one of several lists in a JSON document, by their paths. `all`: the path of all of them; null: there is none. */
  readonly lists: (paths: readonly string[], all: string | null) => string
  /** To read a JSON document that is too long to be searched for lists. */
  readonly reading: string
}

// A shell would drop the backslash of \N.
const quoteMark = (text: string): string => (text.includes('\\') ? `'${text}'` : text)

export const COMMAND_ADVICE: Advice = {
  reading: 'name its list with --list, or save it to a file and import that',
  numbering: 'use --number-from to number the rows',
  missing: (text) => `use --null ${quoteMark(text)} to leave it out`,
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
