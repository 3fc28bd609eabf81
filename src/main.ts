#!/usr/bin/env bun
// The program: finds the command, runs it, and ends the process with its exit code.

import packageJson from '../package.json'
import { type Command, exitCodes, type Output } from './command'
import { backup } from './commands/backup'
import { check } from './commands/check'
import { exportPlants } from './commands/export'
import { health } from './commands/health'
import { importPlants } from './commands/import'
import { restore } from './commands/restore'
import { serve } from './commands/serve'
import { token } from './commands/token'
import { describeOptions, parseConfig } from './config'
import { OpenError, PlantError, UsageError } from './errors'
import { exitAtOnce } from './files/libc'
import { suggest } from './nearest'
import { standardError, standardOutput } from './terminal/output'

const commands: readonly Command[] = [
  serve,
  token,
  importPlants,
  exportPlants,
  backup,
  restore,
  check,
  health,
]

const COLUMNS = 80

function help(): string {
  const width = Math.max(...commands.map(({ name }) => name.length))
  const list = commands.map(({ name, summary }) => `  ${name.padEnd(width)}  ${summary}`)
  return `plantstore ${packageJson.version}: a durable, authenticated HTTP store of plants

Usage: plantstore COMMAND [OPTIONS]

Commands:
${list.join('\n')}

Start with "plantstore serve". Run "plantstore COMMAND --help" for details.
`
}

/** Wraps the paragraphs of a text; lines that are indented stay as they are. */
function wrap(text: string): string {
  return text.replace(/^\S.*(\n\S.*)*$/gm, (paragraph) =>
    paragraph
      .replaceAll('\n', ' ')
      .replace(new RegExp(`(.{1,${COLUMNS}})(?: +|$)`, 'g'), '$1\n')
      .trimEnd(),
  )
}

/** Says where to find help, unless the message itself suggests something. */
const withHint = (message: string, command: string): string =>
  message.endsWith('?') ? message : `${message}; see "plantstore ${command}--help"`

const helpOf = ({ name, usage, summary, help, options }: Command): string =>
  `plantstore ${name}: ${summary}

Usage: plantstore ${[name, usage].filter(Boolean).join(' ')} [OPTIONS]

${wrap(help)}

Options (a flag wins over its environment variable):
${describeOptions(options)}
`

function explain(error: unknown): { message: string; code: number } {
  if (error instanceof UsageError) return { message: error.message, code: exitCodes.usage }
  if (error instanceof OpenError) {
    return { message: error.message, code: error.storage ? exitCodes.storage : exitCodes.failure }
  }
  if (error instanceof PlantError) {
    const isStorage = error.error === 50302 || error.error === 50701
    return { message: error.message, code: isStorage ? exitCodes.storage : exitCodes.failure }
  }
  return {
    message: error instanceof Error ? error.message : String(error),
    code: exitCodes.failure,
  }
}

async function runCommand(
  command: Command,
  words: readonly string[],
  out: Output,
  err: Output,
): Promise<number> {
  const { config, args, help } = parseConfig(words, command.options)
  if (help) {
    out.write(helpOf(command))
    return 0
  }
  if (command.usage === '' && args.length > 0) {
    throw new UsageError(
      `${command.name} takes no arguments, only options: ${JSON.stringify(args[0])}`,
    )
  }
  return await command.run({ config, args, out, err })
}

/** Runs the program on the words of a command line. Resolves to the exit code. */
export async function run(argv: readonly string[], out: Output, err: Output): Promise<number> {
  const [name = '--help', ...rest] = argv
  try {
    if (name === '--version' || name === '-v') {
      out.write(`plantstore ${packageJson.version}\n`)
      return 0
    }
    if (name === '--help' || name === '-h' || name === 'help') {
      out.write(help())
      return argv.length === 0 ? exitCodes.usage : 0
    }
    const command = commands.find((it) => it.name === name)
    if (!command) {
      const names = commands.map((it) => it.name)
      const message = `unknown command ${JSON.stringify(name)}${suggest(name, names)}`
      err.write(`plantstore: ${withHint(message, '')}\n`)
      return exitCodes.usage
    }
    return await runCommand(command, rest, out, err)
  } catch (error) {
    const { message, code } = explain(error)
    const text = code === exitCodes.usage ? withHint(message, `${name} `) : message
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
