#!/usr/bin/env bun
// The program: finds the command, runs it, and ends the process with its exit code.

import packageJson from '../package.json'
import { type Command, exitCodes, type Output } from './cli/command'
import { backup } from './cli/commands/backup'
import { changes } from './cli/commands/changes'
import { check } from './cli/commands/check'
import { completion } from './cli/commands/completion'
import { exportPlants } from './cli/commands/export'
import { forward } from './cli/commands/forward'
import { health } from './cli/commands/health'
import { importPlants } from './cli/commands/import'
import { man } from './cli/commands/man'
import { restore } from './cli/commands/restore'
import { serve } from './cli/commands/serve'
import { token } from './cli/commands/token'
import { parseConfig } from './cli/config'
import { helpOf, helpOfAll } from './cli/help'
import { suggest } from './cli/nearest'
import { standardError, standardOutput } from './cli/terminal/output'
import { refusePasswords } from './engine/database-url'
import { ApiError, messageOf, OpenError, UsageError } from './errors'
import { exitAtOnce } from './files/libc'

const commands: readonly Command[] = [
  serve,
  token,
  importPlants,
  exportPlants,
  backup,
  restore,
  check,
  changes,
  forward,
  health,
  completion,
  man,
]

const VERSION = ['version', '--version', '-V', '-v']
const HELP = ['help', '--help', '-h']

/** Says where to find help, unless the message itself suggests something. */
const withHint = (message: string, command: string): string =>
  message.endsWith('?') ? message : `${message}; see "plantstore ${command}--help"`

/** Finds a command. `others`: what else the word could have been meant to be. */
function findCommand(word: string, others: readonly string[] = []): Command {
  const command = commands.find(({ name }) => name === word)
  if (command) return command
  const names = [...commands.map(({ name }) => name), ...others]
  throw new UsageError(`unknown command ${JSON.stringify(word)}${suggest(word, names)}`)
}

function exitCodeOf(error: unknown): number {
  if (error instanceof UsageError) return exitCodes.usage
  const isStorage =
    error instanceof ApiError
      ? error.error === 50302 || error.error === 50701
      : error instanceof OpenError && error.storage
  return isStorage ? exitCodes.storage : exitCodes.failure
}

async function runCommand(
  command: Command,
  words: readonly string[],
  out: Output,
  err: Output,
): Promise<number> {
  const { config, args, help, passedOver } = parseConfig(words, command.options)
  if (help) {
    out.write(helpOf(command))
    return exitCodes.ok
  }
  if (command.usage === '' && args.length > 0) {
    throw new UsageError(
      `${command.name} takes no arguments, only options: ${JSON.stringify(args[0])}`,
    )
  }
  return await command.run({ config, args, passedOver, commands, out, err })
}

/** Runs the program on the words of a command line. Resolves to the exit code. */
export async function run(argv: readonly string[], out: Output, err: Output): Promise<number> {
  const [name = '--help', ...rest] = argv
  try {
    // Before any message can repeat one.
    refusePasswords(argv)
    if (VERSION.includes(name)) {
      out.write(`plantstore ${packageJson.version}\n`)
      return exitCodes.ok
    }
    if (HELP.includes(name)) {
      const [word] = rest
      out.write(
        word === undefined ? helpOfAll(commands, packageJson.version) : helpOf(findCommand(word)),
      )
      return argv.length === 0 ? exitCodes.usage : exitCodes.ok
    }
    return await runCommand(findCommand(name, ['help', 'version']), rest, out, err)
  } catch (error) {
    const [message, code] = [messageOf(error), exitCodeOf(error)]
    const isKnown = commands.some((it) => it.name === name)
    const text = code === exitCodes.usage ? withHint(message, isKnown ? `${name} ` : '') : message
    err.write(`plantstore: ${text}\n`)
    return code
  }
}

if (import.meta.main) {
  // Databases, backups and exports are for this user alone.
  process.umask(0o077)
  const code = await run(Bun.argv.slice(2), standardOutput(), standardError())
  // The disk may hang, or a signal has asked for it.
  if (code >= exitCodes.storage) exitAtOnce(code)
  process.exit(code)
}
