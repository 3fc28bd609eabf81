// Reads the flags and the environment of a command into one frozen Config.

import { type ParseArgsOptionsConfig, parseArgs } from 'node:util'
import { UsageError } from '../errors'
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

/** The words of a command line: the texts of each option by name; `true` and `false` for one without a value. */
function parseFlags(argv: readonly string[], names: readonly OptionName[]) {
  const flags = new Map(names.filter(isFlag).map((name) => [flagName(name), name]))
  const flagTypes: ParseArgsOptionsConfig = { help: { type: 'boolean', short: 'h' } }
  for (const [flag, name] of flags) {
    flagTypes[flag] = { type: OPTIONS[name].value === null ? 'boolean' : 'string' }
  }
  // Not strict: unlike the library's messages, ours suggest the nearest flag.
  const { positionals, tokens } = parseArgs({
    args: [...argv],
    options: flagTypes,
    allowPositionals: true,
    allowNegative: true,
    strict: false,
    tokens: true,
  })
  const texts = new Map<OptionName, string[]>()
  let help = false
  for (const token of tokens) {
    if (token.kind !== 'option') continue
    const { rawName, value, inlineValue } = token
    const name = flags.get(token.name)
    const takesValue = name !== undefined && OPTIONS[name].value !== null
    const isNegated = rawName === `--no-${token.name}`
    if ((!name && token.name !== 'help') || (isNegated && (takesValue || !name))) {
      const all = [...names.filter(isFlag).map(toFlag), '--help']
      if (all.includes(rawName)) throw new UsageError(`${rawName} takes no value`)
      throw new UsageError(`unknown option ${rawName}${suggest(rawName, all)}`)
    }
    if (!takesValue && value !== undefined) throw new UsageError(`${rawName} takes no value`)
    // A flag cannot be another flag's value; a negative number can.
    if (takesValue && (value === undefined || (!inlineValue && /^-[^\d]/.test(value)))) {
      throw new UsageError(`${rawName} needs a value`)
    }
    if (name) texts.set(name, [...(texts.get(name) ?? []), value ?? String(!isNegated)])
    else help = true
  }
  return { texts, args: positionals, help }
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
  const { texts, args, help } = parseFlags(argv, names)
  const ignoredVariables: string[] = []
  const entries = Object.entries(OPTIONS).map(([key, option]) => {
    const name = key as OptionName
    const setting = { ...option, ...overrides[name] }
    if (!names.includes(name)) return [name, setting.default]
    const flags = texts.get(name)
    const flag = flags?.at(-1)
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
    const values = (setting.isList && flags ? flags : [String(text)]).map((text) =>
      setting.parse(text),
    )
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
