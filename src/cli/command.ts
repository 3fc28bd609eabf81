// What a command of the program is, and how another process runs one.

import { UsageError } from '../errors'
import type { Config } from './config'
import type { OptionName, Wording } from './options'

/** Where a command writes: text to a stream of the process. */
export type Output = {
  /** Returns false if the reader has gone. Throws an `OpenError` if it cannot be written (a full disk). */
  write(text: string): boolean
  readonly isTTY: boolean
  /** Whether nobody can read it: /dev/null, also in place of a stream that is closed. */
  readonly isDiscarded: boolean
}

export type CommandContext = {
  readonly config: Config
  /** The words after the command's name, without flags. */
  readonly args: readonly string[]
  /** The variables that Kubernetes has set, and that are no settings. */
  readonly passedOver: readonly string[]
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

/** The exit codes of every command; `storage` is EX_IOERR of sysexits.h. */
export const exitCodes = { ok: 0, failure: 1, usage: 2, storage: 74 } as const

/** The exit codes after the signals to stop, as a shell counts them: 128 plus the signal's number. */
export const signalExitCodes = { SIGINT: 130, SIGTERM: 143 } as const
export type StopSignal = keyof typeof signalExitCodes
export const stopSignals = Object.keys(signalExitCodes) as StopSignal[]

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
  /** Resolves to the exit code. */
  run(context: CommandContext): Promise<number>
}

/** This program, as it is started again: the executable, or Bun with the source. */
export const ownProgram = (): readonly string[] =>
  Bun.isStandaloneExecutable ? [process.execPath] : [process.execPath, Bun.main]
