// plantstore completion: scripts that complete commands, options and files in a shell.

import { type Command, exitCodes } from '../command'
import { describeOption, isFlag } from '../config'
import { UsageError } from '../errors'
import { options } from '../options'

/** What a flag's value can be; `none`: it takes no value, or one that nobody can guess. */
type Values = readonly string[] | 'files' | 'folders' | 'none'

type Flag = {
  readonly name: string
  readonly value: string | null
  readonly values: Values
  readonly help: string
}

function flagsOf({ options: names, wording }: Command): Flag[] {
  const flags = names.filter(isFlag).map((name): Flag => {
    const { flag, help } = describeOption(name, wording)
    const { value, choices } = options[name]
    const kind = value === 'DIR' ? 'folders' : /FILE|PATH/.test(value ?? '') ? 'files' : 'none'
    return { name: flag.split(' ')[0] ?? flag, value, values: choices ?? kind, help }
  })
  return [...flags, { name: '--help', value: null, values: 'none', help: 'show this help' }]
}

/** The first words after a command, from a usage such as `create NAME | list`. */
const actionsOf = ({ usage }: Command): string[] =>
  usage.split(' | ').flatMap((it) => it.match(/^[a-z]+/) ?? [])

const takesFile = ({ usage }: Command): boolean => usage.includes('FILE')

const single = (text: string): string => `'${text.replaceAll("'", "'\\''")}'`
const namesOf = (commands: readonly Command[]): string[] => commands.map(({ name }) => name)

function bash(commands: readonly Command[]): string {
  const valued = new Map(
    commands.flatMap(flagsOf).flatMap((it) => (it.value ? [[it.name, it.values]] : [])),
  )
  const values = [...valued].map(([flag, it]) => {
    const shown = { files: 'kind=-f', folders: 'kind=-d', none: ':' }
    return `    ${flag}) ${typeof it === 'string' ? shown[it] : `words=${single(it.join(' '))}`} ;;`
  })
  const cases = commands.map((command) => {
    const flags = `flags=${single(
      flagsOf(command)
        .map(({ name }) => name)
        .join(' '),
    )}`
    const actions = actionsOf(command)
    const words = actions.length > 0 ? `; words=${single(actions.join(' '))}` : ''
    return `      ${command.name}) ${flags}${words}${takesFile(command) ? '; kind=-f' : ''} ;;`
  })
  return `# bash completion of plantstore. To keep it:
#   plantstore completion bash > ~/.local/share/bash-completion/completions/plantstore
# (with the package bash-completion), or in ~/.bashrc: source <(plantstore completion bash)
_plantstore() {
  local word=\${COMP_WORDS[COMP_CWORD]} before=\${COMP_WORDS[COMP_CWORD-1]} words= flags= kind=
  # bash takes --option=value for three words.
  [[ $before == = ]] && before=\${COMP_WORDS[COMP_CWORD-2]}
  [[ $word == = ]] && word=
  case $before in
${values.join('\n')}
    *) case \${COMP_WORDS[1]} in
${cases.join('\n')}
      help) words=${single(namesOf(commands).join(' '))} ;;
    esac
    [[ $COMP_CWORD -gt 2 ]] && words=
    [[ $COMP_CWORD -eq 1 ]] && words=${single([...namesOf(commands), 'help', 'version'].join(' '))}
    [[ $word == -* || -z $words$kind ]] && words=$flags kind= ;;
  esac
  mapfile -t COMPREPLY < <(compgen -W "$words" -- "$word"; [[ -n $kind ]] && compgen $kind -- "$word")
}
complete -o filenames -F _plantstore plantstore
`
}

const zshText = (text: string): string => text.replace(/[[\]:\\]/g, '\\$&')

function zsh(commands: readonly Command[]): string {
  const list = commands.map(({ name, summary }) => `    ${single(`${name}:${zshText(summary)}`)}`)
  const cases = commands.map((command) => {
    const flags = flagsOf(command).map(({ name, value, values, help }) => {
      const shown = { files: '_files', folders: '_files -/', none: ' ' }
      const offered = typeof values === 'string' ? shown[values] : `(${values.join(' ')})`
      return single(
        `${name}${value ? '=' : ''}[${zshText(help)}]${value ? `:${value}:${offered}` : ''}`,
      )
    })
    const actions = actionsOf(command)
    const first = actions.length > 0 ? [single(`1:action:(${actions.join(' ')})`)] : []
    const files = takesFile(command) ? [single('*:file:_files')] : []
    return `    ${command.name}) _arguments ${[...first, ...flags, ...files].join(' ')} ;;`
  })
  return `#compdef plantstore
# zsh completion of plantstore. To keep it: mkdir -p ~/.zfunc && plantstore completion zsh > ~/.zfunc/_plantstore
# and in ~/.zshrc, before compinit: fpath+=~/.zfunc
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
    help) _describe command commands ;;
  esac
}
if [[ $funcstack[1] == _plantstore ]]; then _plantstore "$@"; else compdef _plantstore plantstore; fi
`
}

function fish(commands: readonly Command[]): string {
  const lines = commands.flatMap((command) => {
    const { name, summary } = command
    const when = `complete -c plantstore -n '__fish_seen_subcommand_from ${name}`
    const actions = actionsOf(command).join(' ')
    const shown = { files: '-r -F', folders: "-x -a '(__fish_complete_directories)'", none: '-x' }
    return [
      `complete -c plantstore -n __fish_use_subcommand -a ${name} -d ${single(summary)}`,
      ...(actions
        ? [`${when}; and not __fish_seen_subcommand_from ${actions}' -a ${single(actions)}`]
        : []),
      ...(takesFile(command) ? [`${when}' -F`] : []),
      ...flagsOf(command).map(({ name: flag, value, values, help }) => {
        const offered =
          typeof values === 'string' ? shown[values] : `-x -a ${single(values.join(' '))}`
        return `${when}' -l ${flag.slice(2)}${value ? ` ${offered}` : ''} -d ${single(help)}`
      }),
    ]
  })
  return `# fish completion of plantstore. To keep it: plantstore completion fish > ~/.config/fish/completions/plantstore.fish
complete -c plantstore -f
complete -c plantstore -n '__fish_use_subcommand' -a 'help version'
complete -c plantstore -n '__fish_seen_subcommand_from help' -a ${single(namesOf(commands).join(' '))}
${lines.join('\n')}
`
}

const shells = { bash, zsh, fish }

export const completion: Command = {
  name: 'completion',
  usage: 'bash | zsh | fish',
  summary: 'print a completion script for a shell',
  help: `To keep it:

  plantstore completion bash > \\
    ~/.local/share/bash-completion/completions/plantstore

  mkdir -p ~/.zfunc && plantstore completion zsh > ~/.zfunc/_plantstore
  # in ~/.zshrc, before compinit: fpath+=~/.zfunc

  plantstore completion fish > ~/.config/fish/completions/plantstore.fish`,
  options: [],
  async run({ args: [name = '', ...rest], commands, out }) {
    if (!Object.hasOwn(shells, name) || rest.length > 0) {
      throw new UsageError('give one shell: bash, zsh or fish')
    }
    out.write(shells[name as keyof typeof shells](commands))
    return exitCodes.ok
  },
}
