#!/usr/bin/env bun
import { fstatSync } from 'node:fs'
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
import { writeAll } from './files/write-all'

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

function help(): string {
  const width = Math.max(...commands.map(({ name }) => name.length))
  const list = commands.map(({ name, summary }) => `  ${name.padEnd(width)}  ${summary}`)
  return `plantstore ${packageJson.version}: a durable, authenticated HTTP store of plants

Usage: plantstore COMMAND [OPTIONS]

Commands:
${list.join('\n')}

"plantstore COMMAND --help" tells more. "plantstore serve" is where to begin.
`
}

function helpOf({ name, usage, summary, help, options }: Command): string {
  return `plantstore ${name}: ${summary}

Usage: plantstore ${[name, usage].filter(Boolean).join(' ')} [OPTIONS]

${help}

Options, with their defaults and environment variables; a flag wins over the environment:
${describeOptions(options)}
  -h, --help
`
}

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
    throw new UsageError(`${command.name} takes options only, not ${JSON.stringify(args[0])}`)
  }
  return await command.run({ config, args, out, err })
}

/** Runs the program on the words of a command line. Resolves to its exit code. */
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
      err.write(
        `plantstore: there is no command ${JSON.stringify(name)}: see "plantstore --help"\n`,
      )
      return exitCodes.usage
    }
    return await runCommand(command, rest, out, err)
  } catch (error) {
    const { message, code } = explain(error)
    const hint = code === exitCodes.usage ? `; see "plantstore ${name} --help"` : ''
    err.write(`plantstore: ${message}${hint}\n`)
    return code
  }
}

// Not `process.stdout`: Node's streams take as long to load as everything else together. A terminal is a character
// device; so is /dev/null, where nobody minds.
function toOutput(fd: number, onError: (error: Error) => void): Output {
  let isRead = true
  return {
    isTTY: fstatSync(fd).isCharacterDevice(),
    write(text) {
      try {
        if (isRead) writeAll(fd, text)
      } catch (error) {
        isRead = (error as NodeJS.ErrnoException).code !== 'EPIPE'
        if (isRead) onError(error as Error)
      }
      return isRead
    },
  }
}

const standardOutput = () =>
  toOutput(1, ({ message }) => {
    throw new OpenError(`standard output cannot be written: ${message}`, true)
  })

// Where not even an error can be told, there is nobody left to tell.
const standardError = () => toOutput(2, () => {})

if (import.meta.main) {
  // Databases, backups and exports are for this user alone.
  process.umask(0o077)
  const code = await run(Bun.argv.slice(2), standardOutput(), standardError())
  // The disk may hang, or a signal has asked for it.
  if (code >= exitCodes.storage) exitAtOnce(code)
  process.exit(code)
}
