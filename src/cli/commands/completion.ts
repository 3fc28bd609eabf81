// plantstore completion: shell scripts that complete commands, options and files by calling `completion for`.

import { parseConfig } from '../../config/config'
import { describeOption, helpFlag, isFlag } from '../../config/options'
import { UsageError } from '../../errors'
import { EXIT_CODES } from '../../program'
import type { Command, CommandContext } from '../command'
import bash from '../completion/plantstore.bash' with { type: 'text' }
import fish from '../completion/plantstore.fish' with { type: 'text' }
import zsh from '../completion/plantstore.zsh' with { type: 'text' }

const shells: Readonly<Record<string, string>> = { bash, zsh, fish }

/**
 * Suggested words, with descriptions after a tab; the shell replaces `:files` and `:folders` by its own completions.
 */
type Offer = readonly (readonly [word: string, description?: string])[]

const FILES: Offer = [[':files']]

const OF_PROGRAM: Offer = [
  ['--help', 'show the commands'],
  ['--version', 'show the version'],
]

/** The flags of a command for an action; without an action, all of them. */
const flagsOf = ({ options, overrides, owners = {} }: Command, action: string | undefined) => [
  ...options
    .filter(
      (option) => isFlag(option) && (action === undefined || (owners[option] ?? action) === action),
    )
    .map((option) => describeOption(option, overrides)),
  helpFlag,
]

/** The first words after a command's name, from a usage such as `create NAME | list`. */
const actionsOf = ({ usage }: Command): string[] =>
  usage.split(' | ').flatMap((part) => part.match(/^[a-z]+/) ?? [])

type Flag = ReturnType<typeof flagsOf>[number]

/** The values of the flag that a word is or begins with (`--format=`); null if it has none. */
function valuesAfter(word: string, flags: readonly Flag[]): Offer | null {
  const found = flags.find(({ flag, value }) => value && flag === word)
  if (!found) return null
  const { choices, value } = found
  if (choices) return choices.map((choice) => [choice])
  if (value === 'DIR') return [[':folders']]
  return /FILE|PATH/.test(value ?? '') ? FILES : []
}

/** The settings and arguments so far; null while they are invalid. */
function parse(words: readonly string[], { options, overrides }: Command) {
  try {
    return parseConfig(words, options, overrides)
  } catch {
    return null
  }
}

function offerFor(before: readonly string[], typed: string, commands: readonly Command[]): Offer {
  const names: Offer = commands.map(({ name, summary }) => [name, summary])
  const [name, ...rest] = before
  if (name === undefined && typed.startsWith('-')) return OF_PROGRAM
  if (name === undefined) return [...names, ['help'], ['version']]
  if (name === 'help') return names
  const command = commands.find((known) => known.name === name)
  if (!command) return []
  const actions = actionsOf(command)
  const flags = flagsOf(
    command,
    rest.find((word) => actions.includes(word)),
  )
  const values = valuesAfter(rest.at(-1) ?? '', flags)
  if (values) return values
  const [flag = '', value] = typed.split('=')
  if (value !== undefined) {
    return (valuesAfter(flag, flags) ?? []).map(([word]) => [
      word.startsWith(':') ? word : `${flag}=${word}`,
    ])
  }
  const offered: Offer = flags.map(({ flag, help }) => [flag, help])
  if (typed.startsWith('-')) return offered
  if (actions.length > 0 && parse(rest, command)?.args.length === 0) {
    return actions.map((action) => [action])
  }
  if (command.usage.includes('FILE')) return FILES
  return offered
}

/** Prints the completions of the last word, one per line. bash splits `--option=value` into three words. */
async function complete({ args, commands, out }: CommandContext): Promise<number> {
  const words = args.slice(1).filter((word) => word !== '=')
  const typed = args.at(-1) === '=' ? '' : (args.at(-1) ?? '')
  const before = words.slice(0, args.at(-1) === '=' ? undefined : -1)
  for (const [word, description = ''] of offerFor(before, typed, await commands())) {
    if (word.startsWith(':') || word.startsWith(typed))
      out.write(`${word}\t${description}\n`.replace('\t\n', '\n'))
  }
  return EXIT_CODES.ok
}

export const completion: Command = {
  name: 'completion',
  usage: 'bash | zsh | fish',
  summary: 'print a completion script for a shell',
  help: `To install it:

  mkdir -p ~/.local/share/bash-completion/completions
  plantstore completion bash > \\
    ~/.local/share/bash-completion/completions/plantstore

  mkdir -p ~/.zfunc && plantstore completion zsh > ~/.zfunc/_plantstore
  # in ~/.zshrc, before compinit: fpath+=~/.zfunc

  mkdir -p ~/.config/fish/completions
  plantstore completion fish > ~/.config/fish/completions/plantstore.fish`,
  options: [],
  async run(context) {
    const [name = '', ...rest] = context.args
    if (name === 'for') return complete(context)
    const script = Object.hasOwn(shells, name) ? shells[name] : undefined
    if (script === undefined || rest.length > 0) {
      throw new UsageError('give one shell: bash, zsh or fish')
    }
    context.out.write(script)
    return EXIT_CODES.ok
  },
}
