// Reads the flags and the environment of a command into one frozen Config.

import { type ParseArgsOptionsConfig, parseArgs } from 'node:util'
import { messageOf, UsageError } from '../errors'
import { nearestTo, suggest } from './nearest'
import {
  flagName,
  isFlag,
  OPTIONS,
  type OptionName,
  type OptionOverrides,
  type Options,
  toFlag,
  variableOf,
} from './options'

type Environment = Readonly<Record<string, string | undefined>>

/** The value of every option. */
export type Config = { readonly [Name in OptionName]: Options[Name]['default'] }

/** The message of a command line that parseArgs() refuses: it names an option, quoted, first. */
function explain(error: unknown, types: ParseArgsOptionsConfig, flags: readonly string[]): string {
  const [, option = ''] = /'(?:-\w, )?(-[^ ']*)/.exec(messageOf(error)) ?? []
  if (types[option.slice(2)]?.type === 'string') return `${option} needs a value`
  if (flags.includes(option)) return `${option} takes no value`
  return `unknown option ${option}${suggest(option, flags)}`
}

// The library takes -5 for a flag, where no flag is a number.
function joinNegatives(argv: readonly string[]): string[] {
  const words: string[] = []
  for (const word of argv) {
    const isValue = /^-\d/.test(word) && /^--[^=]+$/.test(words.at(-1) ?? '')
    words.push(isValue ? `${words.pop()}=${word}` : word)
  }
  return words
}

/** The words of a command line: the texts of each option by its flag; `true` and `false` for one without a value. */
function parseFlags(argv: readonly string[], names: readonly OptionName[]) {
  const types: ParseArgsOptionsConfig = { help: { type: 'boolean', short: 'h' } }
  for (const name of names.filter(isFlag)) {
    types[flagName(name)] =
      OPTIONS[name].value === null ? { type: 'boolean' } : { type: 'string', multiple: true }
  }
  const options = { options: types, allowPositionals: true, allowNegative: true } as const
  try {
    const { values, positionals } = parseArgs({ args: joinNegatives(argv), ...options })
    const { help, ...flags } = values
    if (help === false) throw new Error("'--no-help'")
    return { flags, args: positionals, help: help === true }
  } catch (error) {
    throw new UsageError(explain(error, types, [...names.filter(isFlag).map(toFlag), '--help']))
  }
}

// In every pod, Kubernetes sets variables with the addresses of Services, such as one named plantstore
// (https://kubernetes.io/docs/concepts/services-networking/service/#environment-variables). No option but --port has
// such a name.
const isServiceAddress = (text: string): boolean => /^(?:tcp|udp|sctp):\/\//.test(text)

const isOfKubernetes = (name: OptionName, text: string, env: Environment): boolean =>
  name === 'port' && isServiceAddress(text) && Boolean(env.PLANTSTORE_SERVICE_HOST)

/** A variable that looks like one of plantstore but is none, with the one that was probably meant. */
export type UnknownVariable = { readonly variable: string; readonly nearest?: string }

function findUnknownVariables(env: Environment): UnknownVariable[] {
  const variables = (Object.keys(OPTIONS) as OptionName[])
    .map(variableOf)
    .filter((variable) => variable !== null)
  return Object.keys(env)
    .filter((variable) => /^PLANTSTORE_/i.test(variable) && !variables.includes(variable))
    .filter(
      (variable) => !/_(?:PORT|SERVICE)_/.test(variable) && !isServiceAddress(env[variable] ?? ''),
    )
    .sort()
    .map((variable) => {
      const nearest = nearestTo(variable.toUpperCase(), variables)
      return { variable, ...(nearest === undefined ? {} : { nearest }) }
    })
}

// docker's --env-file keeps the quotes around a value, and white space and a comment around those. No setting begins so.
const isQuoted = (text: string): boolean => /^\s*["']/.test(text)

/**
 * Reads the options of a command: those of these names, with its overrides. A flag has precedence over the environment,
 * the environment over the default. `ignoredVariables`: those set by Kubernetes. Throws a {@link UsageError} for an
 * unknown flag or a bad value; unknown variables are returned, since others may set them.
 */
export function parseConfig(
  argv: readonly string[],
  names: readonly OptionName[],
  overrides: OptionOverrides = {},
  env: Environment = Bun.env,
) {
  const { flags, args, help } = parseFlags(argv, names)
  const ignoredVariables: string[] = []
  const entries = Object.entries(OPTIONS).map(([key, option]) => {
    const name = key as OptionName
    const setting = { ...option, ...overrides[name] }
    if (!names.includes(name)) return [name, setting.default]
    const given = flags[flagName(name)]
    const texts = given === undefined ? [] : [given].flat().map(String)
    const flag = texts.at(-1)
    const variable = variableOf(name)
    const text = flag ?? (variable && env[variable])
    // An empty variable counts as unset: container platforms pass unset variables as empty ones.
    if (!text && flag === undefined) return [name, setting.default]
    if (flag === undefined && variable && isOfKubernetes(name, String(text), env)) {
      ignoredVariables.push(variable)
      return [name, setting.default]
    }
    if (variable?.startsWith('PLANTSTORE_') && isQuoted(String(text)) && !help) {
      const [source, hint] =
        flag === undefined ? [variable, ' (docker --env-file keeps them)'] : [toFlag(name), '']
      throw new UsageError(`${source} has quotes around its value; remove them${hint}`)
    }
    // A list's flag may be repeated.
    const all = setting.isList && flag !== undefined ? texts : [String(text)]
    const values = all.map((text) => setting.parse(text))
    const isValid = !values.includes(undefined)
    const value = isValid && setting.isList ? values.flat() : isValid ? values[0] : undefined
    if (value === undefined && !help) {
      throw new UsageError(`${flag === undefined ? variable : toFlag(name)} ${setting.rule}`)
    }
    return [name, value]
  })
  const config: Config = Object.freeze(Object.fromEntries(entries))
  if (config.unix !== null && config.port !== OPTIONS.port.default && !help) {
    throw new UsageError('give --unix or --port, not both (or the variables of their names)')
  }
  return { config, args, help, ignoredVariables, unknownVariables: findUnknownVariables(env) }
}

/** True if the environment names a proxy. */
export const namesProxy = (env: Environment = Bun.env): boolean =>
  ['HTTP_PROXY', 'HTTPS_PROXY', 'ALL_PROXY'].some((name) => env[name] || env[name.toLowerCase()])
