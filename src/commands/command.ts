import type { Config, OptionName } from '../config'

/** Where a command writes: text to a stream of the process, or to whatever a test gives it. */
export type Output = {
  write(text: string): void
  readonly isTTY: boolean
}

export type CommandContext = {
  readonly config: Config
  /** The words of the command line behind the command's name, flags left out. */
  readonly args: readonly string[]
  readonly out: Output
  readonly err: Output
}

/** One command of the program. Resolves to the exit code. */
export type Command = {
  readonly name: string
  /** The words that it takes, for the help: `create NAME`. */
  readonly usage: string
  /** One line. */
  readonly summary: string
  /** What `--help` says beside the options. */
  readonly help: string
  readonly options: readonly OptionName[]
  run(context: CommandContext): Promise<number>
}
