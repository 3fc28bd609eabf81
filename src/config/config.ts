// Reads the flags and the environment of a command into one frozen Config.

import { type ParseArgsOptionsConfig, parseArgs } from 'node:util'
import { messageOf, UsageError } from '../errors'
import { suggest } from './nearest'
import {
  flagName,
  isFlag,
  OPTIONS,
  type OptionName,
  type Options,
  toFlag,
  variableOf,
} from './options'

type Environment = Readonly<Record<string, string | undefined>>

/** The value of every option. */
export type Config = { readonly [Name in OptionName]: Options[Name]['default'] }

const NAMES = Object.keys(OPTIONS) as OptionName[]

/** The message of a command line that parseArgs() refuses: it names an option, quoted, first. */
function explain(error: unknown, names: readonly OptionName[]): string {
  const [, flag = ''] = /'(?:-\w, )?([^ ']*)/.exec(messageOf(error)) ?? []
  const name = names.find((each) => toFlag(each) === flag)
  if (!name) return `unknown option ${flag}${suggest(flag, [...names.map(toFlag), '--help'])}`
  if (OPTIONS[name].value === null) return `${flag} takes no value`
  return `${flag} needs a value; one that begins with a dash: ${flag}=VALUE`
}

/** The words of a command line, and its flags: lists of texts; true or false for one without a value. */
function parseFlags(argv: readonly string[], names: readonly OptionName[]) {
  const options: ParseArgsOptionsConfig = { help: { type: 'boolean', short: 'h' } }
  for (const name of names) {
    options[flagName(name)] =
      OPTIONS[name].value === null ? { type: 'boolean' } : { type: 'string', multiple: true }
  }
  try {
    return parseArgs({ args: [...argv], options, allowPositionals: true, allowNegative: true })
  } catch (error) {
    throw new UsageError(explain(error, names))
  }
}

// In every pod, Kubernetes sets variables with the addresses of Services, such as one named plantstore
// (https://kubernetes.io/docs/concepts/services-networking/service/#environment-variables). No option but --port has
// such a name.
const isServiceAddress = (text: string): boolean => /^(?:tcp|udp|sctp):\/\//.test(text)

/** The variables that look like those of plantstore but are none, each with the one that was probably meant. */
function findUnknownVariables(env: Environment): string[] {
  const variables = NAMES.flatMap((name) => variableOf(name) ?? [])
  return Object.keys(env)
    .filter(
      (variable) =>
        /^PLANTSTORE_/i.test(variable) &&
        !variables.includes(variable) &&
        !/_(?:PORT|SERVICE)_/.test(variable) &&
        !isServiceAddress(env[variable] ?? ''),
    )
    .sort()
    .map((variable) => `${variable}${suggest(variable.toUpperCase(), variables)}`)
}

// docker's --env-file keeps the quotes around a value, and white space and a comment around those. No setting begins so.
const isQuoted = (text: string): boolean => /^\s*["']/.test(text)

/** The value of an option: of its flag, or else of its variable, or else its default. */
function readOption(name: OptionName, flag: unknown, env: Environment): unknown {
  const option = OPTIONS[name]
  const variable = variableOf(name)
  const text = (variable && env[variable]) || ''
  const isUnset = text === '' || (name === 'port' && isServiceAddress(text))
  // An empty variable counts as unset: container platforms pass unset variables as empty ones.
  if (flag === undefined && isUnset) return option.default
  const source = flag === undefined ? variable : toFlag(name)
  const texts = flag === undefined ? [text] : [flag].flat().map(String)
  if (variable?.startsWith('PLANTSTORE_') && texts.some(isQuoted)) {
    throw new UsageError(`${source} has quotes around its value; remove them`)
  }
  const values: unknown[] = texts.map(option.parse)
  if (values.includes(null)) throw new UsageError(`${source} ${option.rule}`)
  return option.isList ? values : values.at(-1)
}

/**
 * Reads the options of a command: those of these names. A flag has precedence over the environment, the environment over
 * the default. Returns null if the user asks for help. Throws a {@link UsageError} for an unknown flag or a bad value; unknown
 * variables are returned, since others may set them.
 */
export function parseConfig(
  argv: readonly string[],
  names: readonly OptionName[],
  env: Environment = Bun.env,
) {
  const { values: flags, positionals: args } = parseFlags(argv, names.filter(isFlag))
  if (flags.help) return null
  const values = NAMES.map((name) => [
    name,
    names.includes(name) ? readOption(name, flags[flagName(name)], env) : OPTIONS[name].default,
  ])
  const config: Config = Object.freeze(Object.fromEntries(values))
  if (config.unix !== null && config.port !== OPTIONS.port.default) {
    throw new UsageError('give --unix or --port, not both')
  }
  return { config, args, unknownVariables: findUnknownVariables(env) }
}

/** True if the environment names a proxy. */
export const namesProxy = (env: Environment = Bun.env): boolean =>
  ['HTTP_PROXY', 'HTTPS_PROXY', 'ALL_PROXY'].some((name) => env[name] || env[name.toLowerCase()])
