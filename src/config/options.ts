// Every option of every command: its flag, its environment variable, its default.

import type { KeepChanges } from '../change-log/change-log'
import { parseDatabase } from '../engine/database-url'
import { isEncoding } from '../formats/encoding/encoding'
import { FORMATS } from '../formats/format'
import { ofColumnOptions } from '../formats/header'
import { LEVELS, type Level, LOG_FORMATS, type LogFormat } from '../log'
import { MAX_BODY_BYTES } from '../plant/json'
import { parseInt64 } from '../plant/plant'
import { SCOPES, type Scope } from '../token/token'
import { parseDuration } from './duration'

/** The valid texts of an option. */
type Kind<Value> = {
  /** The value of a text; null if it is invalid. */
  readonly parse: (text: string) => Value | null
  /** The message for an invalid text; it follows the option's name. */
  readonly rule: string
}

type Option<Value> = Kind<unknown> & {
  /** The name of its value in the help; null if it has no value or no flag. */
  readonly value: string | null
  readonly help: string
  readonly default: Value
  /** Set only by a variable: every user of the machine can see a command line. */
  readonly isSecret?: true
  /** True if its flag may be repeated: its value is a list. */
  readonly isList?: true
}

const option = <Value>(
  kind: Kind<NoInfer<Value>>,
  value: string | null,
  help: string,
  preset: Value,
): Option<Value> => ({ ...kind, value, help, default: preset })

/** An option that need not be set. */
const optional = <Value>(kind: Kind<Value>, value: string, help: string) =>
  option<Value | null>(kind, value, help, null)

const wholeNumber = (from: number, to: number): Kind<number> => ({
  parse: (text) => {
    const value = /^\d{1,15}$/.test(text) ? Number(text) : Number.NaN
    return value >= from && value <= to ? value : null
  },
  rule: `must be a whole number from ${from} to ${to}`,
})

const oneOf = <Value extends string>(values: readonly Value[]): Kind<Value> => ({
  parse: (text) => values.find((value) => value === text) ?? null,
  rule: `must be ${values.slice(0, -1).join(', ')} or ${values.at(-1)}`,
})

/** A text of a pattern. */
const matching = (pattern: RegExp, rule: string): Kind<string> => ({
  parse: (text) => (pattern.test(text) ? text : null),
  rule,
})

const NON_EMPTY = matching(/./s, 'must not be empty')
const NEW_FILE = matching(/^(?!-$)./s, 'must name a file')
const MODE = matching(/^0?[0-7]{3}$/, 'must be three octal digits, such as 0660')

const DURATION = { parse: parseDuration, rule: 'must be a duration from 1s to 1000y, such as 90d' }

const KEEP_CHANGES: Kind<NonNullable<KeepChanges>> = {
  parse: (text) => (text === 'off' ? text : parseDuration(text)),
  rule: `${DURATION.rule}, or off`,
}

const BOOLEAN: Kind<boolean> = {
  parse: (text) => (text === 'true' ? true : text === 'false' ? false : null),
  rule: 'must be true or false',
}

const flag = (help: string) => option(BOOLEAN, null, help, false)

const list = (value: string, help: string): Option<readonly string[] | null> => ({
  ...NON_EMPTY,
  value,
  help,
  default: null,
  isList: true,
})

const secret = (help: string): Option<string | null> => ({
  ...option<string | null>(NON_EMPTY, null, help, null),
  isSecret: true,
})

const ADDRESS: Kind<string> = {
  // An IPv6 address may have brackets, as in a URL (RFC 3986, section 3.2.2).
  parse: (text) => text.replace(/^\[(.*)\]$/, '$1') || null,
  rule: 'must be an address',
}

const DELIMITER: Kind<string> = {
  parse: (text) => (text === 'tab' ? '\t' : /^[^"\w\s]$/.test(text) ? text : null),
  rule: 'must be one character, such as ";", or "tab"',
}

const ENCODING: Kind<string> = {
  parse: (text) => (isEncoding(text) ? text.toLowerCase() : null),
  rule: 'must be an encoding, such as windows-1252, macintosh or utf-16le',
}

const HTTP_URL: Kind<string> = {
  parse: (text) => (/^https?:\/\/[^@]+$/.test(text) && URL.canParse(text) ? text : null),
  rule: 'must be a URL that begins with http:// or https://, without a user',
}

const DATABASE: Kind<string> = { ...NON_EMPTY, parse: (text) => parseDatabase(text) ?? null }

const DAEMON = {
  host: option(ADDRESS, 'ADDRESS', "the daemon's address; 0.0.0.0 for all interfaces", '127.0.0.1'),
  port: option(wholeNumber(0, 65_535), 'PORT', "the daemon's port; 0 picks a free port", 3000),
  unix: optional(NON_EMPTY, 'PATH', "the daemon's unix socket, instead of a port"),
  unixMode: option(MODE, 'MODE', 'permissions of the unix socket, in octal', '0660'),
  tlsCert: optional(NON_EMPTY, 'FILE', 'use HTTPS, with this certificate chain (PEM)'),
  tlsKey: optional(NON_EMPTY, 'FILE', 'its private key (PEM)'),
  hsts: optional(DURATION, 'DURATION', 'send Strict-Transport-Security with this max-age'),
  database: option(
    DATABASE,
    'FILE|URL',
    'the database file, or postgres://USER@HOST/NAME',
    'plants.db',
  ),
  databasePasswordFile: secret('a file with the database password'),
  databasePassword: secret('the database password'),
  keepChanges: optional(
    KEEP_CHANGES,
    'DURATION',
    'keep a change log this long, such as 30d, or off',
  ),
  readOnly: flag('serve reads only, from a standby or a copy of a file'),
  primaryUrl: optional(HTTP_URL, 'URL', 'where clients send changes; shown in refusals'),
  maxBodyBytes: option(wholeNumber(1, MAX_BODY_BYTES), 'BYTES', 'largest request body', 1_048_576),
  stopSeconds: option(wholeNumber(0, 3600), 'SECONDS', 'time limit for a graceful stop', 8),
  logRequests: flag('log every request'),
  logLevel: option<Level>(oneOf(LEVELS), 'LEVEL', 'minimum log level: info, warn or error', 'info'),
  logFormat: option<LogFormat>(
    oneOf(LOG_FORMATS),
    'FORMAT',
    'json or text; auto: text on a terminal, else JSON',
    'auto',
  ),
  console: option(BOOLEAN, null, 'do not serve the pages at / and /docs', true),
  backupFolder: optional(NON_EMPTY, 'DIR', 'make backups in this folder while serving'),
  backupEvery: optional(DURATION, 'DURATION', 'time between backups; default: 24h'),
  backupKeep: optional(
    wholeNumber(1, 9999),
    'COUNT',
    'backups to keep; default: as many as now, at least 7',
  ),
  trustedProxies: optional(NON_EMPTY, 'CIDRS', 'proxies whose X-Forwarded-For names the client'),
  rateLimit: optional(
    wholeNumber(1, 1_000_000),
    'N',
    'requests per second for each token; default: no limit',
  ),
  corsOrigin: optional(NON_EMPTY, 'ORIGINS', 'origins whose pages may call the API'),
  token: secret('an access token'),
  tokenFile: secret('a file with the access token'),
}

// These have no variables.
const ONE_RUN = {
  scope: option<Scope>(oneOf(SCOPES), 'SCOPE', 'read, or write for both', 'write'),
  expires: optional(DURATION, 'DURATION', 'lifetime; default: without end'),
  output: optional(NEW_FILE, 'FILE', 'write the token to this new file, with mode 0600'),
  json: flag('print JSON'),
  olderThan: optional(DURATION, 'DURATION', 'only tokens inactive for at least this long'),
  format: optional(
    oneOf(FORMATS),
    'FORMAT',
    'csv, ndjson, json or xlsx; default: by the file name',
  ),
  idColumn: optional(NON_EMPTY, 'COLUMN', 'the id column: its name, or its number from 1'),
  nameColumn: list('COLUMN', 'the name column; repeat it to join several'),
  ...ofColumnOptions((name) => optional(NON_EMPTY, 'COLUMN', `the ${name} column`)),
  null: list('TEXT', 'text of an empty cell, such as NA; may be repeated'),
  numberFrom: optional(
    { parse: parseInt64, rule: 'must be a whole number' },
    'ID',
    'number the rows from this id instead',
  ),
  header: option(BOOLEAN, null, 'no header row; refer to columns by number', true),
  headerRow: optional(
    wholeNumber(1, 1_000_000_000),
    'N',
    'the row of the header; rows above it are ignored',
  ),
  list: optional(NON_EMPTY, 'PATH', 'the list of a JSON file, such as beds.plants'),
  sheet: optional(NON_EMPTY, 'NAME', 'the sheet of a workbook; default: the first'),
  delimiter: optional(DELIMITER, 'CHARACTER', 'CSV separator, as ";" or "tab"; default: detected'),
  encoding: optional(ENCODING, 'ENCODING', 'such as windows-1252; default: UTF-8 or UTF-16'),
  dryRun: flag('store nothing; print what would be stored'),
  refused: optional(NEW_FILE, 'FILE', 'write refused rows to this file, with the reason'),
  quiet: flag('print nothing if the daemon is well'),
  escapeFormulas: flag('prefix formulas (=A1) with an apostrophe'),
  strict: flag('stop at the first row that is refused'),
  replace: flag('update stored plants that differ'),
  after: optional(NON_EMPTY, 'CURSOR', 'only changes after this cursor; "now" for new ones only'),
  follow: flag('keep printing new changes'),
}

const FOLLOWERS = {
  url: optional(HTTP_URL, 'URL', 'read from the daemon at this address'),
  cursorFile: optional(NEW_FILE, 'FILE', 'save the cursor of the last delivered change here'),
  secretFile: optional(NON_EMPTY, 'FILE', 'the signing secrets, one per line'),
}

export const OPTIONS = { ...DAEMON, ...ONE_RUN, ...FOLLOWERS }

export type Options = typeof OPTIONS
export type OptionName = keyof Options

/** The options of the daemon, in the order of its help. */
export const DAEMON_OPTIONS = Object.keys(DAEMON) as (keyof typeof DAEMON)[]

/** The options for opening any database. */
export const DATABASE_OPTIONS = ['database', 'databasePasswordFile', 'databasePassword'] as const

/** True if an option has a flag. */
export const isFlag = (name: OptionName): boolean => !OPTIONS[name].isSecret

/** The name of an option's flag, without its dashes. */
export const flagName = (name: OptionName): string =>
  name.replace(/[A-Z]/g, (letter) => `-${letter.toLowerCase()}`)

/** The flag of an option as help shows it: `--no-console` for one that is set by default. */
export const toFlag = (name: OptionName): string =>
  `--${OPTIONS[name].default === true ? 'no-' : ''}${flagName(name)}`

/** The environment variable of an option, which its flag overrides; null if there is none. */
export function variableOf(name: OptionName): string | null {
  if (name === 'databasePassword') return 'PGPASSWORD'
  if (name in ONE_RUN) return null
  return `PLANTSTORE_${name.replace(/[A-Z]/g, (letter) => `_${letter}`).toUpperCase()}`
}

/** An option as shown by help, the manual and completions. */
type Description = Pick<Option<unknown>, 'value' | 'help'> & {
  /** Its flag with the value, or the variable of an option without a flag. */
  readonly head: string
  readonly flag: string
  /** Its default, and its variable if it has a flag too. */
  readonly notes: string
}

export function describeOption(name: OptionName): Description {
  const { value, help, default: preset }: Option<unknown> = OPTIONS[name]
  const flag = toFlag(name)
  const variable = variableOf(name) ?? ''
  const isShown = preset !== null && typeof preset !== 'boolean'
  const notes = [isShown ? `default: ${preset}` : '', isFlag(name) ? variable : '']
  const head = isFlag(name) ? [flag, value].filter(Boolean).join(' ') : variable
  return { head, flag, value, help, notes: notes.filter(Boolean).join('; ') }
}

/** The flag of every command. */
export const HELP_FLAG: Description = {
  head: '-h, --help',
  flag: '--help',
  value: null,
  help: 'show this help',
  notes: '',
}
