// plantstore completion: scripts that complete commands, options and files in a shell.

import { UsageError } from '../../errors'
import { type Command, exitCodes } from '../command'
import { type Description, describeOption, helpFlag, isFlag } from '../options'

/** A command as a shell completes it. */
const toCompletion = ({ name, summary, usage, options, wording }: Command) => ({
  name,
  summary,
  flags: [...options.filter(isFlag).map((option) => describeOption(option, wording)), helpFlag],
  /** The first words after it, from a usage such as `create NAME | list`. */
  actions: usage
    .split(' | ')
    .flatMap((it) => it.match(/^[a-z]+/) ?? [])
    .join(' '),
  takesFile: usage.includes('FILE'),
})

type Completion = ReturnType<typeof toCompletion>

/** How a shell is told what completes the value of a flag: a word of a few, a file, a folder, or nothing that can be guessed. */
function offer(
  { value, choices }: Description,
  toWords: (words: string) => string,
  kinds: Readonly<Record<'files' | 'folders' | 'none', string>>,
): string {
  if (choices) return toWords(choices.join(' '))
  if (value === 'DIR') return kinds.folders
  return /FILE|PATH/.test(value ?? '') ? kinds.files : kinds.none
}

const single = (text: string): string => `'${text.replaceAll("'", "'\\''")}'`
const namesOf = (commands: readonly Completion[]): string[] => commands.map(({ name }) => name)

function bash(commands: readonly Completion[]): string {
  const kinds = { files: 'kind=-f', folders: 'kind=-d', none: ':' }
  const values = commands
    .flatMap(({ flags }) => flags)
    .filter(({ value }) => value)
    .map((it) => `    ${it.flag}) ${offer(it, (words) => `words=${single(words)}`, kinds)} ;;`)
  const cases = commands.map(({ name, flags, actions, takesFile }) => {
    const own = `flags=${single(flags.map(({ flag }) => flag).join(' '))}`
    const words = actions && `; words=${single(actions)}`
    return `      ${name}) ${own}${words}${takesFile ? '; kind=-f' : ''} ;;`
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
${[...new Set(values)].join('\n')}
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

function zsh(commands: readonly Completion[]): string {
  const kinds = { files: '_files', folders: '_files -/', none: ' ' }
  const list = commands.map(({ name, summary }) => `    ${single(`${name}:${zshText(summary)}`)}`)
  const cases = commands.map(({ name, flags, actions, takesFile }) => {
    const own = flags.map((it) => {
      const { flag, value, help } = it
      const offered = value ? `:${value}:${offer(it, (words) => `(${words})`, kinds)}` : ''
      return single(`${flag}${value ? '=' : ''}[${zshText(help)}]${offered}`)
    })
    const first = actions ? [single(`1:action:(${actions})`)] : []
    const files = takesFile ? [single('*:file:_files')] : []
    return `    ${name}) _arguments ${[...first, ...own, ...files].join(' ')} ;;`
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

function fish(commands: readonly Completion[]): string {
  const kinds = { files: '-r -F', folders: "-x -a '(__fish_complete_directories)'", none: '-x' }
  const lines = commands.flatMap(({ name, summary, flags, actions, takesFile }) => {
    const when = `complete -c plantstore -n '__fish_seen_subcommand_from ${name}`
    return [
      `complete -c plantstore -n __fish_use_subcommand -a ${name} -d ${single(summary)}`,
      ...(actions
        ? [`${when}; and not __fish_seen_subcommand_from ${actions}' -a ${single(actions)}`]
        : []),
      ...(takesFile ? [`${when}' -F`] : []),
      ...flags.map((it) => {
        const offered = it.value ? ` ${offer(it, (all) => `-x -a ${single(all)}`, kinds)}` : ''
        return `${when}' -l ${it.flag.slice(2)}${offered} -d ${single(it.help)}`
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
    out.write(shells[name as keyof typeof shells](commands.map(toCompletion)))
    return exitCodes.ok
  },
}
