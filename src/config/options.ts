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
  /** The name of the value in the help; null for a flag without one. */
  readonly value: string | null
  /** The value of a text; null if it is invalid. */
  readonly parse: (text: string) => Value | null
  /** The message for an invalid text; it follows the option's name. */
  readonly rule: string
}

type Option<Value> = Kind<unknown> & {
  readonly help: string
  readonly default: Value
  /** Set only by a variable: every user of the machine can see a command line. */
  readonly isSecret?: true
  /** True if its flag may be repeated: its value is a list. */
  readonly isList?: true
}

const kind = <Value>(
  value: string | null,
  rule: string,
  parse: (text: string) => Value | null,
): Kind<Value> => ({ value, rule, parse })

const option = <Value>(kind: Kind<NoInfer<Value>>, help: string, preset: Value): Option<Value> => ({
  ...kind,
  help,
  default: preset,
})

/** An option that need not be set. */
const optional = <Value>(kind: Kind<Value>, help: string) => option<Value | null>(kind, help, null)

const list = (kind: Kind<string>, help: string): Option<readonly string[] | null> => ({
  ...kind,
  help,
  default: null,
  isList: true,
})

/** A text of a pattern. */
const matching = (value: string, rule: string, pattern: RegExp) =>
  kind(value, rule, (text) => (pattern.test(text) ? text : null))

const nonEmpty = (value: string) => matching(value, 'must not be empty', /./s)

const wholeNumber = (value: string, from: number, to: number) =>
  kind(value, `must be a whole number from ${from} to ${to}`, (text) => {
    const number = Number(text)
    return /^\d+$/.test(text) && number >= from && number <= to ? number : null
  })

const oneOf = <Value extends string>(values: readonly Value[]) => {
  const rule = `must be ${values.slice(0, -1).join(', ')} or ${values.at(-1)}`
  return kind(values.join('|'), rule, (text) => values.find((value) => value === text) ?? null)
}

const FILE = nonEmpty('FILE')
const COLUMN = nonEmpty('COLUMN')
const NEW_FILE = matching('FILE', 'must name a file', /^(?!-$)./s)
const MODE = matching('MODE', 'must be three octal digits', /^0?[0-7]{3}$/)

const DURATION_RULE = 'must be a duration from 1s to 1000y, such as 90d'
const DURATION = kind('DURATION', DURATION_RULE, parseDuration)
const KEEP_CHANGES = kind<NonNullable<KeepChanges>>(
  'DURATION',
  `${DURATION_RULE}, or off`,
  (text) => (text === 'off' ? text : parseDuration(text)),
)

const BOOLEAN = kind(null, 'must be true or false', (text) => {
  if (text === 'true') return true
  return text === 'false' ? false : null
})

// A name or an IPv4 address; or an IPv6 address, which may have brackets, as in a URL (RFC 3986, section 3.2.2).
const ADDRESS = kind(
  'ADDRESS',
  'must be an address',
  (text) => /^\[?([^\s/:[\]]+|[\w.%-]*(:[\w.%-]*){2,})\]?$/.exec(text)?.[1] ?? null,
)

const DELIMITER = kind('CHARACTER', 'must be one character, or "tab"', (text) => {
  if (text === 'tab') return '\t'
  return /^[^"\w\s]$/.test(text) ? text : null
})

const ENCODING = kind(
  'ENCODING',
  'must be an encoding, such as windows-1252, macintosh or utf-16le',
  (text) => (isEncoding(text) ? text.toLowerCase() : null),
)

const ID = kind('ID', 'must be a whole number', parseInt64)

const HTTP_URL = kind('URL', 'must begin with http:// or https://, and name no user', (text) =>
  /^https?:\/\/[^@]+$/.test(text) && URL.canParse(text) ? text : null,
)

const DATABASE = kind('FILE|URL', 'must not be empty', parseDatabase)

const flag = (help: string) => option(BOOLEAN, help, false)

const secret = (help: string) => ({
  ...optional(nonEmpty('TEXT'), help),
  isSecret: true as const,
})

/** The time between scheduled backups, and the number that are kept, by default. */
export const BACKUPS = { hours: 24, kept: 7 }

const DAEMON = {
  host: option(ADDRESS, "the daemon's address; 0.0.0.0 for all interfaces", '127.0.0.1'),
  port: option(wholeNumber('PORT', 0, 65_535), "the daemon's port; 0 picks a free port", 3000),
  unix: optional(nonEmpty('PATH'), "the daemon's unix socket, instead of a port"),
  unixMode: option(MODE, 'permissions of the unix socket', '0660'),
  tlsCert: optional(FILE, 'use HTTPS, with this certificate chain (PEM)'),
  tlsKey: optional(FILE, 'its private key (PEM)'),
  hsts: optional(DURATION, 'send Strict-Transport-Security with this max-age'),
  database: option(DATABASE, 'the database file, or postgres://USER@HOST/NAME', 'plants.db'),
  databasePasswordFile: secret('a file with the database password'),
  databasePassword: secret('the database password'),
  keepChanges: optional(KEEP_CHANGES, 'keep a change log this long, or off'),
  readOnly: flag('serve reads only, from a standby or a copy of a file'),
  primaryUrl: optional(HTTP_URL, 'where clients send changes; shown in refusals'),
  maxBodyBytes: option(wholeNumber('BYTES', 1, MAX_BODY_BYTES), 'largest request body', 1_048_576),
  stopSeconds: option(wholeNumber('SECONDS', 0, 3600), 'time limit for a graceful stop', 8),
  logRequests: flag('log every request'),
  logLevel: option<Level>(oneOf(LEVELS), 'minimum log level', 'info'),
  logFormat: option<LogFormat>(oneOf(LOG_FORMATS), 'auto: text on a terminal, else JSON', 'auto'),
  console: option(BOOLEAN, 'do not serve the pages at / and /docs', true),
  backupFolder: optional(nonEmpty('DIR'), 'make backups in this folder while serving'),
  backupEvery: optional(DURATION, `time between backups; default: ${BACKUPS.hours}h`),
  backupKeep: optional(
    wholeNumber('COUNT', 1, 9999),
    `backups to keep; default: as many as now, at least ${BACKUPS.kept}`,
  ),
  trustedProxies: optional(nonEmpty('CIDRS'), 'proxies whose X-Forwarded-For names the client'),
  rateLimit: optional(
    wholeNumber('N', 1, 1_000_000),
    'requests per second for each token; default: no limit',
  ),
  corsOrigin: optional(nonEmpty('ORIGINS'), 'origins whose pages may call the API'),
  token: secret('an access token'),
  tokenFile: secret('a file with the access token'),
}

// These have no variables.
const ONE_RUN = {
  scope: option<Scope>(oneOf(SCOPES), 'write may also read', 'write'),
  expires: optional(DURATION, 'lifetime; default: without end'),
  output: optional(NEW_FILE, 'write the token to this new file, with mode 0600'),
  json: flag('print JSON'),
  olderThan: optional(DURATION, 'only tokens inactive for at least this long'),
  format: optional(oneOf(FORMATS), 'default: by the file name'),
  idColumn: optional(COLUMN, 'the id column: its name, or its number from 1'),
  nameColumn: list(COLUMN, 'the name column; repeat it to join several'),
  ...ofColumnOptions((name) => optional(COLUMN, `the ${name} column`)),
  null: list(nonEmpty('TEXT'), 'text of an empty cell, such as NA; may be repeated'),
  numberFrom: optional(ID, 'number the rows from this id instead'),
  header: option(BOOLEAN, 'no header row; refer to columns by number', true),
  headerRow: optional(
    wholeNumber('N', 1, 1_000_000_000),
    'row of the header; those above are ignored',
  ),
  list: optional(nonEmpty('PATH'), 'the list of a JSON file, such as beds.plants'),
  sheet: optional(nonEmpty('NAME'), 'the sheet of a workbook; default: the first'),
  delimiter: optional(DELIMITER, 'CSV separator, or "tab"; default: detected'),
  encoding: optional(ENCODING, 'such as windows-1252; default: UTF-8 or UTF-16'),
  dryRun: flag('store nothing; print what would be stored'),
  refused: optional(NEW_FILE, 'write refused rows to this file, with the reason'),
  quiet: flag('print nothing if the daemon is well'),
  escapeFormulas: flag('prefix formulas (=A1) with an apostrophe'),
  strict: flag('stop at the first row that is refused'),
  replace: flag('update stored plants that differ'),
  after: optional(nonEmpty('CURSOR'), 'only changes after this cursor; "now" for new ones only'),
  follow: flag('keep printing new changes'),
}

const FOLLOWERS = {
  url: optional(HTTP_URL, 'read from the daemon at this address'),
  cursorFile: optional(NEW_FILE, 'save the cursor of the last delivered change here'),
  secretFile: optional(FILE, 'the signing secrets, one per line'),
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

/** An option as shown by help and the manual. */
export function describeOption(name: OptionName) {
  const { value, help, default: preset }: Option<unknown> = OPTIONS[name]
  const variable = variableOf(name) ?? ''
  const isShown = preset !== null && typeof preset !== 'boolean'
  const notes = [isShown ? `default: ${preset}` : '', isFlag(name) ? variable : '']
  return {
    /** Its flag with the value, or the variable of an option without a flag. */
    head: isFlag(name) ? [toFlag(name), value].filter(Boolean).join(' ') : variable,
    help,
    /** Its default, and its variable if it has a flag too. */
    notes: notes.filter(Boolean).join('; '),
  }
}
