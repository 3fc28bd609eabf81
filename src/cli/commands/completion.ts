// plantstore completion: prints a shell script with the words of every command.

import { isFlag, OPTIONS, toFlag } from '../../config/options'
import { UsageError } from '../../errors'
import { EXIT_CODES } from '../../program'
import type { Command } from '../command'

/** The first words after a command's name, from a usage such as `create NAME | list`. */
const actionsOf = ({ usage }: Command): string[] =>
  usage.split(' | ').flatMap((part) => part.match(/^[a-z]+/) ?? [])

const flagsOf = ({ options }: Command): string => options.filter(isFlag).map(toFlag).join(' ')

const bash = (commands: readonly Command[]): string => `_plantstore() {
  local found= flags=
  case $COMP_CWORD:\${COMP_WORDS[1]} in
    1:*) found='${commands.map(({ name }) => name).join(' ')} help version' flags='--help --version' ;;
${commands
  .map((command) => {
    const words = `found='${actionsOf(command).join(' ')}' flags='--help ${flagsOf(command)}'`
    return `    *:${command.name}) ${words} ;;`
  })
  .join('\n')}
  esac
  [[ \${COMP_WORDS[COMP_CWORD]} == -* ]] && found=$flags
  COMPREPLY=($(compgen -W "$found" -- "\${COMP_WORDS[COMP_CWORD]}"))
}
complete -o default -F _plantstore plantstore
`

const fish = (commands: readonly Command[]): string => {
  const line = (condition: string, words: string, help: string) =>
    `complete -c plantstore -n '${condition}' ${words} -d '${help.replaceAll("'", "\\'")}'\n`
  return commands
    .flatMap((command) => [
      line('__fish_use_subcommand', `-f -a ${command.name}`, command.summary),
      ...command.options.filter(isFlag).map((name) => {
        const { value, help } = OPTIONS[name]
        const words = `-l ${toFlag(name).slice(2)}${value ? ' -r' : ''}`
        return line(`__fish_seen_subcommand_from ${command.name}`, words, help)
      }),
    ])
    .join('')
}

const SCRIPTS: Readonly<Record<string, typeof bash>> = {
  bash,
  zsh: (commands) => `autoload -U +X bashcompinit && bashcompinit\n${bash(commands)}`,
  fish,
}

export const completion: Command = {
  name: 'completion',
  usage: 'bash | zsh | fish',
  summary: 'print a completion script for a shell',
  help: `Completes commands, options and files. In ~/.bashrc, in ~/.zshrc after compinit,
or in ~/.config/fish/config.fish:

  source <(plantstore completion bash)
  source <(plantstore completion zsh)
  plantstore completion fish | source`,
  options: [],
  async run({ args, commands, out }) {
    const [name = '', ...rest] = args
    const script = Object.hasOwn(SCRIPTS, name) ? SCRIPTS[name] : undefined
    if (script === undefined || rest.length > 0) {
      throw new UsageError('give one shell: bash, zsh or fish')
    }
    out.write(script(await commands()))
    return EXIT_CODES.ok
  },
}
