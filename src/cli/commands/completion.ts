// plantstore completion: shell scripts that complete commands, options and files by calling `completion for`.

import { parseConfig } from '../../config/config'
import { describeOption, HELP_FLAG, isFlag } from '../../config/options'
import { UsageError } from '../../errors'
import { EXIT_CODES } from '../../program'
import type { Command, CommandContext } from '../command'
import bash from '../completion/plantstore.bash' with { type: 'text' }
import fish from '../completion/plantstore.fish' with { type: 'text' }
import zsh from '../completion/plantstore.zsh' with { type: 'text' }

const SHELLS: Readonly<Record<string, string>> = { bash, zsh, fish }

/**
 * Words with their descriptions; the shell replaces `:files` and `:folders` by its own completions.
 */
type Suggestions = readonly (readonly [word: string, description?: string])[]

const FILES: Suggestions = [[':files']]

const PROGRAM_FLAGS: Suggestions = [
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
  HELP_FLAG,
]

/** The first words after a command's name, from a usage such as `create NAME | list`. */
const actionsOf = ({ usage }: Command): string[] =>
  usage.split(' | ').flatMap((part) => part.match(/^[a-z]+/) ?? [])

type Flag = ReturnType<typeof flagsOf>[number]

/** The values of the flag that a word is or begins with (`--format=`); null if it has none. */
function valuesAfter(word: string, flags: readonly Flag[]): Suggestions | null {
  const match = flags.find(({ flag, value }) => value && flag === word)
  if (!match) return null
  const { choices, value } = match
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

function suggest(
  previousWords: readonly string[],
  partialWord: string,
  commands: readonly Command[],
): Suggestions {
  const names: Suggestions = commands.map(({ name, summary }) => [name, summary])
  const [name, ...rest] = previousWords
  if (name === undefined && partialWord.startsWith('-')) return PROGRAM_FLAGS
  if (name === undefined) return [...names, ['help'], ['version']]
  if (name === 'help') return names
  const command = commands.find((candidate) => candidate.name === name)
  if (!command) return []
  const actions = actionsOf(command)
  const flags = flagsOf(
    command,
    rest.find((word) => actions.includes(word)),
  )
  const values = valuesAfter(rest.at(-1) ?? '', flags)
  if (values) return values
  const [flag = '', value] = partialWord.split('=')
  if (value !== undefined) {
    return (valuesAfter(flag, flags) ?? []).map(([word]) => [
      word.startsWith(':') ? word : `${flag}=${word}`,
    ])
  }
  const flagSuggestions: Suggestions = flags.map(({ flag, help }) => [flag, help])
  if (partialWord.startsWith('-')) return flagSuggestions
  if (actions.length > 0 && parse(rest, command)?.args.length === 0) {
    return actions.map((action) => [action])
  }
  if (command.usage.includes('FILE')) return FILES
  return flagSuggestions
}

/** Prints the completions of the last word, one per line. bash splits `--option=value` into three words. */
async function complete({ args, commands, out }: CommandContext): Promise<number> {
  const words = args.slice(1).filter((word) => word !== '=')
  const partialWord = args.at(-1) === '=' ? '' : (args.at(-1) ?? '')
  const previousWords = words.slice(0, args.at(-1) === '=' ? undefined : -1)
  for (const [word, description = ''] of suggest(previousWords, partialWord, await commands())) {
    if (word.startsWith(':') || word.startsWith(partialWord))
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
    const script = Object.hasOwn(SHELLS, name) ? SHELLS[name] : undefined
    if (script === undefined || rest.length > 0) {
      throw new UsageError('give one shell: bash, zsh or fish')
    }
    context.out.write(script)
    return EXIT_CODES.ok
  },
}
