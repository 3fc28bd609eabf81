// The advice in messages about rows: options of the command, or the labels of the page's form.

export type Advice = {
  /** To number the rows. */
  readonly numbering: string
  /** To leave out cells with a text that marks missing values. */
  readonly missing: (text: string) => string
  /** A number, as the messages beside it have it. */
  readonly count: (number: number) => string
}

// A shell would drop the backslash of \N.
const quoteMark = (text: string): string => (text.includes('\\') ? `'${text}'` : text)

export const COMMAND_ADVICE: Advice = {
  numbering: 'use --number-from to number the rows',
  missing: (text) => `use --null ${quoteMark(text)} to leave it out`,
  count: String,
}
