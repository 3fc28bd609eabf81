#!/usr/bin/env bun
// The program: finds the command, runs it, and exits with its code.

import packageJson from '../package.json'
import type { Command, Output } from './cli/command'
import { standardError, standardOutput } from './cli/terminal/output'
import { parseConfig } from './config/config'
import { refusePasswords } from './engine/database-url'
import { OpenError, UsageError } from './errors'
import { COMMIT, compileEagerly, EXIT_CODES } from './program'
import { cutUrls, safeMessage } from './redaction'
import { RequestError } from './request-errors'

/** The commands, in the order of the help. Each is loaded only if it runs. */
const COMMANDS: Readonly<Record<string, () => Promise<Command>>> = {
  serve: async () => (await import('./cli/commands/serve')).serve,
  token: async () => (await import('./cli/commands/token')).token,
  import: async () => (await import('./cli/commands/import')).importPlants,
  export: async () => (await import('./cli/commands/export')).exportPlants,
  backup: async () => (await import('./cli/commands/backup')).backup,
  restore: async () => (await import('./cli/commands/restore')).restore,
  check: async () => (await import('./cli/commands/check')).check,
  changes: async () => (await import('./cli/commands/changes')).changes,
  forward: async () => (await import('./cli/commands/forward')).forward,
  health: async () => (await import('./cli/commands/health')).health,
  completion: async () => (await import('./cli/commands/completion')).completion,
}

const isCommand = (word: string): boolean => Object.hasOwn(COMMANDS, word)

/** Loads every command of the program. */
export const loadCommands = (): Promise<readonly Command[]> =>
  Promise.all(Object.values(COMMANDS).map((load) => load()))

const VERSION = ['version', '--version', '-V', '-v']
const HELP = ['help', '--help', '-h']

/** Adds the command for help, unless the message makes a suggestion. */
const withHint = (message: string, command: string): string =>
  message.endsWith('?') ? message : `${message}; see "plantstore ${command}--help"`

async function loadCommand(word: string): Promise<Command> {
  const load = isCommand(word) ? COMMANDS[word] : undefined
  if (load) return load()
  const { suggest } = await import('./config/nearest')
  // Neither help nor version has help of its own.
  const names = [...Object.keys(COMMANDS), 'help', 'version'].filter((name) => name !== word)
  // An option before the command is no misspelt command.
  const suggestion = word.startsWith('-') ? '' : suggest(word, names)
  throw new UsageError(`unknown command ${JSON.stringify(cutUrls(word))}${suggestion}`)
}

async function help(word?: string): Promise<string> {
  const { helpOf, helpOfAll } = await import('./cli/help')
  return word === undefined
    ? helpOfAll(await loadCommands(), packageJson.version)
    : helpOf(await loadCommand(word))
}

function exitCodeOf(error: unknown): number {
  if (error instanceof UsageError) return EXIT_CODES.usage
  const isStorage =
    (error instanceof RequestError && /^(storage failed|disk full)$/.test(error.error)) ||
    (error instanceof OpenError && error.storage)
  return isStorage ? EXIT_CODES.storage : EXIT_CODES.failure
}

async function runCommand(
  command: Command,
  words: readonly string[],
  out: Output,
  err: Output,
): Promise<number> {
  const parsed = parseConfig(words, command.options)
  if (parsed === null) {
    out.write(await help(command.name))
    return EXIT_CODES.ok
  }
  const [first] = parsed.args
  if (command.usage === '' && first !== undefined) {
    const word = JSON.stringify(cutUrls(first))
    throw new UsageError(`${command.name} takes no arguments, only options: ${word}`)
  }
  if (command.name !== 'serve') {
    compileEagerly()
    const warnings = command.options.length > 0 ? parsed.unknownVariables : []
    for (const text of warnings) err.write(`plantstore: warning: unknown variable ${text}\n`)
  }
  return await command.run({ ...parsed, commands: loadCommands, out, err })
}

/** Runs the program on the words of a command line. Resolves to the exit code. */
async function runProgram(argv: readonly string[], out: Output, err: Output): Promise<number> {
  const [name = '--help', ...rest] = argv
  try {
    // Checked before any message can repeat a password.
    refusePasswords(argv)
    if (VERSION.includes(name)) {
      out.write(`plantstore ${packageJson.version} (commit ${COMMIT})\n`)
      return EXIT_CODES.ok
    }
    if (HELP.includes(name)) {
      out.write(await help(rest[0]))
      return argv.length === 0 ? EXIT_CODES.usage : EXIT_CODES.ok
    }
    return await runCommand(await loadCommand(name), rest, out, err)
  } catch (error) {
    const message = safeMessage(error)
    const command = isCommand(name) ? `${name} ` : ''
    const text = error instanceof UsageError ? withHint(message, command) : message
    err.write(`plantstore: ${text}\n`)
    return exitCodeOf(error)
  }
}

if (import.meta.main) {
  // Databases, backups and exports are private to this user.
  process.umask(0o077)
  const code = await runProgram(Bun.argv.slice(2), standardOutput(), standardError())
  // The disk may hang, or a signal has asked for it.
  if (code >= EXIT_CODES.storage) (await import('./files/libc')).exitAtOnce(code)
  process.exit(code)
}
