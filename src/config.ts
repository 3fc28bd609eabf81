import { type ParseArgsOptionsConfig, parseArgs } from 'node:util'
import { parseDuration, type Scope, scopes } from './token'

/** A mistake in the way that the program was called: one line for the user, exit code 2. */
export class UsageError extends Error {
  override readonly name = 'UsageError'
}

type Option<Value> = {
  /** The environment variable that gives it where no flag does. */
  readonly env: string | null
  /** What stands for the value in the help; null: a flag without a value. */
  readonly value: string | null
  readonly help: string
  readonly default: Value
  /** The value of a text; undefined where it is none. */
  readonly parse: (text: string) => Value | undefined
  readonly expected: string
}

/** How a file holds plants: JSON, one plant a line; or comma-separated values (RFC 4180). */
export const formats = ['ndjson', 'csv'] as const
export type Format = (typeof formats)[number]

const option = <Value>(it: Option<Value>): Option<Value> => it

const wholeNumber = (from: number, to: number) => ({
  parse: (text: string) => {
    const value = /^\d{1,15}$/.test(text) ? Number(text) : Number.NaN
    return value >= from && value <= to ? value : undefined
  },
  expected: `a whole number from ${from} to ${to}`,
})

const oneOf = <Value extends string>(...values: Value[]) => ({
  parse: (text: string) => values.find((value) => value === text),
  expected: values.join(' or '),
})

const nonEmpty = {
  parse: (text: string) => text || undefined,
  expected: 'a text that is not empty',
}

const isSet = {
  parse: (text: string) =>
    /^(1|true|yes|on)$/i.test(text) ? true : /^(0|false|no|off)$/i.test(text) ? false : undefined,
  expected: 'true or false',
}

/** Every option of every command: its flag, its environment variable, its default. */
export const options = {
  host: option<string>({
    env: 'PLANTSTORE_HOST',
    value: 'ADDRESS',
    help: 'address to listen on; 0.0.0.0 is every one',
    default: '127.0.0.1',
    ...nonEmpty,
  }),
  port: option<number>({
    env: 'PLANTSTORE_PORT',
    value: 'PORT',
    help: 'port to listen on; 0 picks a free one',
    default: 3000,
    ...wholeNumber(0, 65_535),
  }),
  database: option<string>({
    env: 'PLANTSTORE_DATABASE',
    value: 'FILE',
    help: 'the file that holds the plants',
    default: 'plants.db',
    ...nonEmpty,
  }),
  maxBodyBytes: option<number>({
    env: 'PLANTSTORE_MAX_BODY_BYTES',
    value: 'BYTES',
    help: 'longest body of a request',
    default: 1_048_576,
    ...wholeNumber(1, 67_108_864),
  }),
  stopSeconds: option<number>({
    env: 'PLANTSTORE_STOP_SECONDS',
    value: 'SECONDS',
    help: 'longest wait for requests in flight when told to stop',
    default: 10,
    ...wholeNumber(0, 3600),
  }),
  logRequests: option<boolean>({
    env: 'PLANTSTORE_LOG_REQUESTS',
    value: null,
    help: 'log one line a request',
    default: false,
    ...isSet,
  }),
  token: option<string | null>({
    env: 'PLANTSTORE_TOKEN',
    value: null,
    help: 'a token that is valid beside those of the store',
    default: null,
    ...nonEmpty,
  }),
  tokenFile: option<string | null>({
    env: 'PLANTSTORE_TOKEN_FILE',
    value: null,
    help: 'a file that holds such a token',
    default: null,
    ...nonEmpty,
  }),
  scope: option<Scope>({
    env: null,
    value: 'SCOPE',
    help: 'what the token allows: read, or write for both',
    default: 'write',
    ...oneOf(...scopes),
  }),
  expires: option<number | null>({
    env: null,
    value: 'DURATION',
    help: 'how long the token is valid: 90d, 12h, 1y; for ever if not given',
    default: null,
    parse: (text) => parseDuration(text) ?? undefined,
    expected: 'a duration such as 90d, 12h or 1y',
  }),
  format: option<Format | null>({
    env: null,
    value: 'FORMAT',
    help: 'ndjson or csv; by the name of the file if not given',
    default: null,
    ...oneOf(...formats),
  }),
  strict: option<boolean>({
    env: null,
    value: null,
    help: 'stop at the first line that is refused',
    default: false,
    ...isSet,
  }),
  replace: option<boolean>({
    env: null,
    value: null,
    help: 'replace a plant that the store has with other fields',
    default: false,
    ...isSet,
  }),
} as const

export type Options = typeof options
export type OptionName = keyof Options

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
    return parseArgs({ args: [...argv], options: known, allowPositionals: true, strict: true })
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
