// A command of the program: its options, its help, and what it does.

import { UsageError } from '../errors'
import type { Config } from './config'
import type { OptionName, Wording } from './options'

/** Where a command writes: text to a stream of the process. */
export type Output = {
  /** Returns false if the reader has gone. Throws an `OpenError` if it cannot be written (a full disk). */
  write(text: string): boolean
  readonly isTTY: boolean
  /** True if nobody can read it: /dev/null, also in place of a stream that is closed. */
  readonly isDiscarded: boolean
}

export type CommandContext = {
  readonly config: Config
  /** The words after the command's name, without flags. */
  readonly args: readonly string[]
  /** The variables that Kubernetes has set, and that are no settings. */
  readonly ignoredVariables: readonly string[]
  /** Loads every command of the program. */
  readonly commands: () => Promise<readonly Command[]>
  readonly out: Output
  readonly err: Output
}

/** The only argument of a command; `what` names it. Throws a {@link UsageError} for none, and for more. */
export function onlyArgument([word, ...rest]: readonly string[], what: string): string {
  if (word === undefined || rest.length > 0) throw new UsageError(`give exactly one ${what}`)
  return word
}

/** One command of the program. */
export type Command = {
  readonly name: string
  /** Its arguments, for the help: `create NAME`. */
  readonly usage: string
  /** One line. */
  readonly summary: string
  /** What `--help` says above the options. Paragraphs that are not indented are wrapped. */
  readonly help: string
  readonly options: readonly OptionName[]
  /** What an option is for this command, where that differs from what it is for most. */
  readonly wording?: Wording
  /** The options that only one of its actions takes, with the action. */
  readonly owners?: Readonly<Partial<Record<OptionName, string>>>
  /** Finds the arguments that an action can take, with descriptions, for completion. It reads the database and writes nothing. */
  findArguments?(action: string, config: Config): Promise<readonly (readonly [string, string])[]>
  /** Resolves to the exit code. */
  run(context: CommandContext): Promise<number>
}
