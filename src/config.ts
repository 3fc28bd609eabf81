// Reads the flags and the environment of a command into one frozen Config.

import { type ParseArgsOptionsConfig, parseArgs } from 'node:util'
import { UsageError } from './errors'
import { suggest } from './nearest'
import { type OptionName, type Options, options, variableOf, type Wording } from './options'

/** The value of every option. */
export type Config = { readonly [Name in OptionName]: Options[Name]['default'] }

/** What a command line and an environment say. */
type Parsed = {
  readonly config: Config
  readonly args: readonly string[]
  readonly help: boolean
}

/** Whether an option has a flag. */
export const isFlag = (name: OptionName): boolean => !options[name].isSecret

const toLongFlag = (name: string): string =>
  `--${name.replace(/[A-Z]/g, (letter) => `-${letter.toLowerCase()}`)}`

/** The flag of an option as help shows it: `--no-console` for one that is set by default. */
export const toFlag = (name: OptionName): string =>
  options[name].default === true ? `--no-${toLongFlag(name).slice(2)}` : toLongFlag(name)

/** The words of a command line: the text of each option, by its name; `true` and `false` for one without a value. */
function parseFlags(argv: readonly string[], names: readonly OptionName[]) {
  const flags = new Map(names.filter(isFlag).map((name) => [toLongFlag(name).slice(2), name]))
  const known: ParseArgsOptionsConfig = { help: { type: 'boolean', short: 'h' } }
  for (const [flag, name] of flags) {
    known[flag] = { type: options[name].value === null ? 'boolean' : 'string' }
  }
  // Not strict: unlike the library's messages, ours suggest the nearest flag.
  const { positionals, tokens } = parseArgs({
    args: [...argv],
    options: known,
    allowPositionals: true,
    allowNegative: true,
    strict: false,
    tokens: true,
  })
  const texts = new Map<OptionName, string>()
  let help = false
  for (const token of tokens) {
    if (token.kind !== 'option') continue
    const { rawName, value, inlineValue } = token
    const name = flags.get(token.name)
    const takesValue = known[token.name]?.type === 'string'
    const isNegated = rawName === `--no-${token.name}`
    if (!known[token.name] || (isNegated && (takesValue || !name))) {
      throw new UsageError(
        `unknown option ${rawName}${suggest(rawName, [...names.filter(isFlag).map(toFlag), '--help'])}`,
      )
    }
    if (!takesValue && value !== undefined) throw new UsageError(`${rawName} takes no value`)
    // A word that looks like a flag is no value; a negative number is one.
    if (takesValue && (value === undefined || (!inlineValue && /^-[^\d]/.test(value)))) {
      throw new UsageError(`${rawName} needs a value`)
    }
    if (name) texts.set(name, value ?? String(!isNegated))
    else help = true
  }
  return { texts, args: positionals, help }
}

/**
 * Reads the options of a command, whose names are `names`: a flag wins over the environment, the environment over the
 * default. Throws a {@link UsageError} for an unknown flag or a bad value.
 */
export function parseConfig(
  argv: readonly string[],
  names: readonly OptionName[],
  env: Readonly<Record<string, string | undefined>> = Bun.env,
): Parsed {
  const { texts, args, help } = parseFlags(argv, names)
  const entries = Object.entries(options).map(([key, it]) => {
    const name = key as OptionName
    if (!names.includes(name)) return [name, it.default]
    const flag = texts.get(name)
    const variable = variableOf(name)
    const text = flag ?? (variable && env[variable])
    // An empty variable counts as unset: container platforms pass unset variables on as empty ones.
    if (!text && flag === undefined) return [name, it.default]
    const value = it.parse(String(text))
    if (value === undefined && !help) {
      throw new UsageError(`${flag === undefined ? variable : toFlag(name)} ${it.rule}`)
    }
    return [name, value]
  })
  const config: Config = Object.freeze(Object.fromEntries(entries))
  if (config.unix !== null && config.port !== options.port.default && !help) {
    throw new UsageError('give --unix or --port, not both (or the variables of their names)')
  }
  return { config, args, help }
}

/** An option as help and the manual show it; `notes`: its default, and its variable if it has a flag too. */
export function describeOption(name: OptionName, wording: Wording = {}) {
  const { value, help, default: preset } = { ...options[name], ...wording[name] }
  const env = variableOf(name)
  const flag = isFlag(name) ? `${toFlag(name)}${value ? ` ${value}` : ''}` : (env ?? '')
  const isShown = preset !== null && typeof preset !== 'boolean'
  const notes = [isShown ? `default: ${preset}` : '', isFlag(name) && env ? env : '']
  return { flag, help, notes: notes.filter(Boolean).join('; ') }
}

// A longer flag gets its own line.
const LONGEST_COLUMN = 24

/** The help of a command's options, in lines of 80 characters at most. */
export function describeOptions(names: readonly OptionName[], wording?: Wording): string {
  const rows = names.map((name) => describeOption(name, wording))
  const widths = rows.map(({ flag }) => flag.length).filter((it) => it <= LONGEST_COLUMN)
  const width = Math.max(...widths, '-h, --help'.length)
  const line = (first: string, second: string) => `  ${first.padEnd(width)}  ${second}`
  return [...rows, { flag: '-h, --help', help: 'show this help', notes: '' }]
    .flatMap(({ flag, help, notes }) => [
      ...(flag.length > width ? [`  ${flag}`, line('', help)] : [line(flag, help)]),
      ...(notes ? [line('', `(${notes})`)] : []),
    ])
    .join('\n')
}
