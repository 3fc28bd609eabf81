import { type ParseArgsOptionsConfig, parseArgs } from 'node:util'
import { UsageError } from './errors'
import { type OptionName, type Options, options } from './options'

/** The value of every option. */
export type Config = { readonly [Name in OptionName]: Options[Name]['default'] }

// Secrets come by the environment alone: a command line is seen by everybody on the machine.
const isFlag = (name: OptionName): boolean => name !== 'token' && name !== 'tokenFile'

const toFlag = (name: string): string =>
  name.replace(/[A-Z]/g, (letter) => `-${letter.toLowerCase()}`)

function parseFlags(argv: readonly string[], names: readonly OptionName[]) {
  const known: ParseArgsOptionsConfig = { help: { type: 'boolean', short: 'h' } }
  for (const name of names.filter(isFlag)) {
    known[toFlag(name)] = { type: options[name].value === null ? 'boolean' : 'string' }
  }
  try {
    return parseArgs({
      args: [...argv],
      options: known,
      allowPositionals: true,
      // `--no-log-requests` wins over the environment.
      allowNegative: true,
      strict: true,
    })
  } catch (error) {
    const text = error instanceof Error ? error.message : String(error)
    throw new UsageError(text.split(/\.\s/)[0] ?? text)
  }
}

/** What a command line and an environment say. */
export type Parsed = {
  readonly config: Config
  readonly args: readonly string[]
  readonly help: boolean
}

/**
 * Reads the options of a command, those of `names`: a flag wins over the environment, the environment over the
 * default. Throws a {@link UsageError} for an unknown flag or a bad value.
 */
export function parseConfig(
  argv: readonly string[],
  names: readonly OptionName[],
  env: Readonly<Record<string, string | undefined>> = Bun.env,
): Parsed {
  const { values, positionals } = parseFlags(argv, names)
  const help = values.help === true
  const entries = Object.entries(options).map(([name, it]) => {
    if (!names.includes(name as OptionName)) return [name, it.default]
    const flag = values[toFlag(name)]
    const source = flag === undefined ? it.env : `--${toFlag(name)}`
    const text = flag === undefined ? it.env && env[it.env] : String(flag)
    // An empty variable counts as none: it is what a container platform makes of one that is not set.
    if (!text && flag === undefined) return [name, it.default]
    const value = it.parse(String(text))
    if (value === undefined && !help) {
      throw new UsageError(`${source} must be ${it.expected}`)
    }
    return [name, value]
  })
  return { config: Object.freeze(Object.fromEntries(entries)), args: positionals, help }
}

const plain = (value: unknown): string => (value === null || value === false ? '' : ` [${value}]`)

/** The help of a command's options, one line each. */
export function describeOptions(names: readonly OptionName[]): string {
  const rows = names.map((name) => {
    const { value, env, help, default: preset } = options[name]
    const flag = isFlag(name) ? `--${toFlag(name)}${value ? ` ${value}` : ''}` : ''
    return [flag, `${help}${plain(preset)}`, env ?? ''] as const
  })
  const flags = Math.max(...rows.map(([flag]) => flag.length))
  const helps = Math.max(...rows.map(([, help]) => help.length))
  return rows
    .map(([flag, help, env]) => `  ${flag.padEnd(flags)}  ${help.padEnd(helps)}  ${env}`.trimEnd())
    .join('\n')
}
