// A command of the program: its options, its help, and its action.

import type { Config } from '../config/config'
import type { OptionName } from '../config/options'
import { UsageError } from '../errors'

/** An output of a command: a stream of the process. */
export type Output = {
  /** Returns false if the reader has closed it. Throws an `OpenError` if writing fails (a full disk). */
  write(output: string | Uint8Array): boolean
  readonly isTTY: boolean
  /** True if it is /dev/null, which also replaces a closed stream. */
  readonly isDiscarded: boolean
}

export type CommandContext = {
  readonly config: Config
  /** The words after the command's name, without flags. */
  readonly args: readonly string[]
  /** Variables that look like settings but are none, each with a suggestion. */
  readonly unknownVariables: readonly string[]
  /** Loads every command of the program. */
  readonly commands: () => Promise<readonly Command[]>
  readonly out: Output
  readonly err: Output
}

/** The only argument of a command; `what` names it. Throws a {@link UsageError} for none or several. */
export function onlyArgument([word, ...rest]: readonly string[], what: string): string {
  if (!word || rest.length > 0) throw new UsageError(`give exactly one ${what}`)
  return word
}

/** One command of the program. */
export type Command = {
  readonly name: string
  /** Its arguments, for the help: `create NAME`. */
  readonly usage: string
  /** One line. */
  readonly summary: string
  /** The text of `--help` above the options, in lines of at most 80 characters. */
  readonly help: string
  readonly options: readonly OptionName[]
  /** Resolves to the exit code. */
  run(context: CommandContext): Promise<number>
}
