// plantstore completion: scripts that complete commands, options and files in a shell.

import { type Command, exitCodes } from '../command'
import { isFlag, toFlag } from '../config'
import { UsageError } from '../errors'
import { options } from '../options'

type Flag = {
  readonly flag: string
  readonly value: string | null
  readonly choices: readonly string[]
  readonly help: string
}

const flagsOf = ({ options: names }: Command): Flag[] => [
  ...names.filter(isFlag).map((name) => {
    const {
      value,
      help,
      choices = [],
    }: (typeof options)[typeof name] & Partial<Flag> = options[name]
    return { flag: toFlag(name), value, choices, help }
  }),
  { flag: '--help', value: null, choices: [], help: 'show this help' },
]

/** The first words after a command, from a usage such as `create NAME | list`. */
const actionsOf = ({ usage }: Command): string[] =>
  usage.split(' | ').flatMap((it) => it.match(/^[a-z]+/) ?? [])

const single = (text: string): string => `'${text.replaceAll("'", "'\\''")}'`

function bash(commands: readonly Command[]): string {
  const cases = commands.map((command) => {
    const words = [...actionsOf(command), ...flagsOf(command).map(({ flag }) => flag)]
    return `    ${command.name}) words=${single(words.join(' '))} ;;`
  })
  const choices = new Map(
    commands
      .flatMap(flagsOf)
      .flatMap((it) => (it.choices.length > 0 ? [[it.flag, it.choices]] : [])),
  )
  const values = [...choices].map(
    ([flag, all]) =>
      `    ${flag}) COMPREPLY=($(compgen -W ${single(all.join(' '))} -- "$word")); return ;;`,
  )
  return `# bash completion of plantstore: source <(plantstore completion bash)
_plantstore() {
  local word=\${COMP_WORDS[COMP_CWORD]} words
  if [[ $COMP_CWORD -eq 1 ]]; then
    COMPREPLY=($(compgen -W ${single([...commands.map(({ name }) => name), 'help', 'version'].join(' '))} -- "$word"))
    return
  fi
  case \${COMP_WORDS[COMP_CWORD-1]} in
${values.join('\n')}
  esac
  case \${COMP_WORDS[1]} in
${cases.join('\n')}
    help) words=${single(commands.map(({ name }) => name).join(' '))} ;;
  esac
  COMPREPLY=($(compgen -W "$words" -- "$word"))
  [[ $word == -* ]] || COMPREPLY+=($(compgen -f -- "$word"))
}
complete -o filenames -F _plantstore plantstore
`
}

const zshText = (text: string): string => text.replace(/[[\]:\\]/g, '\\$&')

function zsh(commands: readonly Command[]): string {
  const list = commands.map(({ name, summary }) => `    ${single(`${name}:${zshText(summary)}`)}`)
  const cases = commands.map((command) => {
    const flags = flagsOf(command).map(({ flag, value, choices, help }) => {
      const values = choices.length > 0 ? `(${choices.join(' ')})` : '_files'
      return single(
        `${flag}${value ? '=' : ''}[${zshText(help)}]${value ? `:${value}:${values}` : ''}`,
      )
    })
    const actions = actionsOf(command)
    const first = actions.length > 0 ? [single(`1:action:(${actions.join(' ')})`)] : []
    return `    ${command.name}) _arguments ${[...first, ...flags, "'*:file:_files'"].join(' ')} ;;`
  })
  return `#compdef plantstore
# zsh completion of plantstore: plantstore completion zsh > "\${fpath[1]}/_plantstore"
_plantstore() {
  local -a commands
  commands=(
${list.join('\n')}
  )
  if (( CURRENT == 2 )); then
    _describe command commands
    return
  fi
  local command=$words[2]
  shift words
  (( CURRENT-- ))
  case $command in
${cases.join('\n')}
  esac
}
compdef _plantstore plantstore
`
}

function fish(commands: readonly Command[]): string {
  const lines = commands.flatMap((command) => {
    const { name, summary } = command
    const inCommand = `complete -c plantstore -n '__fish_seen_subcommand_from ${name}'`
    return [
      `complete -c plantstore -n __fish_use_subcommand -f -a ${name} -d ${single(summary)}`,
      ...actionsOf(command).map((action) => `${inCommand} -a ${action}`),
      ...flagsOf(command).map(({ flag, value, choices, help }) => {
        const values =
          choices.length > 0 ? ` -x -a ${single(choices.join(' '))}` : value ? ' -r' : ''
        return `${inCommand} -l ${flag.slice(2)}${values} -d ${single(help)}`
      }),
    ]
  })
  return `# fish completion of plantstore: plantstore completion fish > ~/.config/fish/completions/plantstore.fish
${lines.join('\n')}
`
}

const shells = { bash, zsh, fish }

export const completion: Command = {
  name: 'completion',
  usage: 'bash | zsh | fish',
  summary: 'print a completion script for a shell',
  help: `For this session, in bash: source <(plantstore completion bash). The first line of each script says where to keep it.`,
  options: [],
  async run({ args: [name = '', ...rest], commands, out }) {
    if (!Object.hasOwn(shells, name) || rest.length > 0) {
      throw new UsageError('give one shell: bash, zsh or fish')
    }
    out.write(shells[name as keyof typeof shells](commands))
    return exitCodes.ok
  },
}
