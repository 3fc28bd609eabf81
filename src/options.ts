// Every option of every command: its flag, its environment variable, its default.

import type { KeepChanges } from './changes'
import { parseDatabase } from './database-url'
import { type Format, formats } from './format'
import { type Level, levels } from './log'
import { LONGEST_BODY_BYTES } from './plant-json'
import { parseDuration, type Scope, scopes } from './token'

type Option<Value> = {
  /** The environment variable that sets it if no flag does. */
  readonly env: string | null
  /** The name of its value in the help; null: a flag without a value. */
  readonly value: string | null
  readonly help: string
  readonly default: Value
  /** The value of a text; undefined if it is not valid. */
  readonly parse: (text: string) => Value | undefined
  /** The possible values, if there are only a few. */
  readonly choices?: readonly string[]
  /** The message for a text that is not valid; it follows the option's name. */
  readonly rule: string
}

const option = <Value>(it: Option<Value>): Option<Value> => it

const wholeNumber = (from: number, to: number) => ({
  parse: (text: string) => {
    const value = /^\d{1,15}$/.test(text) ? Number(text) : Number.NaN
    return value >= from && value <= to ? value : undefined
  },
  rule: `must be a whole number from ${from} to ${to}`,
})

const oneOf = <Value extends string>(...values: Value[]) => ({
  choices: values,
  parse: (text: string) => values.find((value) => value === text),
  rule: `must be ${values.join(' or ')}`,
})

const nonEmpty = {
  parse: (text: string) => text || undefined,
  rule: 'must not be empty',
}

const duration = {
  parse: (text: string) => parseDuration(text) ?? undefined,
  rule: 'takes 1s to 1000y, such as 90d; not a date',
}

const isSet = {
  parse: (text: string) =>
    /^(1|true|yes|on)$/i.test(text) ? true : /^(0|false|no|off)$/i.test(text) ? false : undefined,
  rule: 'must be true or false',
}

export const options = {
  host: option<string>({
    env: 'PLANTSTORE_HOST',
    value: 'ADDRESS',
    help: 'address to listen on; 0.0.0.0 for all interfaces',
    default: '127.0.0.1',
    // An IPv6 address may have the brackets that it has in a URL (RFC 3986, section 3.2.2).
    parse: (text) => text.replace(/^\[(.*)\]$/, '$1') || undefined,
    rule: 'must be an address',
  }),
  port: option<number>({
    env: 'PLANTSTORE_PORT',
    value: 'PORT',
    help: 'port to listen on; 0 picks a free port',
    default: 3000,
    ...wholeNumber(0, 65_535),
  }),
  unix: option<string | null>({
    env: 'PLANTSTORE_UNIX',
    value: 'PATH',
    help: 'listen on a unix socket instead of a port',
    default: null,
    ...nonEmpty,
  }),
  unixMode: option<string>({
    env: 'PLANTSTORE_UNIX_MODE',
    value: 'MODE',
    help: 'permissions of the unix socket, in octal',
    default: '0660',
    parse: (text) => (/^0?[0-7]{3}$/.test(text) ? text : undefined),
    rule: 'must be three octal digits, such as 0660',
  }),
  tlsCert: option<string | null>({
    env: 'PLANTSTORE_TLS_CERT',
    value: 'FILE',
    help: 'serve HTTPS with this certificate chain (PEM)',
    default: null,
    ...nonEmpty,
  }),
  tlsKey: option<string | null>({
    env: 'PLANTSTORE_TLS_KEY',
    value: 'FILE',
    help: 'its private key (PEM); SIGHUP reads both again',
    default: null,
    ...nonEmpty,
  }),
  hsts: option<number | null>({
    env: 'PLANTSTORE_HSTS',
    value: 'DURATION',
    help: 'with --tls-cert: browsers use only HTTPS for so long',
    default: null,
    ...duration,
    rule: 'takes 1s to 1000y, such as 1y',
  }),
  database: option<string>({
    env: 'PLANTSTORE_DATABASE',
    value: 'FILE|URL',
    help: 'the database file, or postgres://USER@HOST/NAME',
    default: 'plants.db',
    ...nonEmpty,
    parse: parseDatabase,
  }),
  databasePasswordFile: option<string | null>({
    env: 'PLANTSTORE_DATABASE_PASSWORD_FILE',
    value: null,
    help: 'a file with the password of the URL',
    default: null,
    ...nonEmpty,
  }),
  databasePassword: option<string | null>({
    env: 'PGPASSWORD',
    value: null,
    help: 'the password of the URL',
    default: null,
    ...nonEmpty,
  }),
  keepChanges: option<KeepChanges>({
    env: 'PLANTSTORE_KEEP_CHANGES',
    value: 'DURATION',
    help: 'keep a log of changes, such as 30d',
    default: 'off',
    parse: (text) => (text === 'off' ? text : (parseDuration(text) ?? undefined)),
    rule: 'takes 1s to 1000y, such as 30d, or off',
  }),
  maxBodyBytes: option<number>({
    env: 'PLANTSTORE_MAX_BODY_BYTES',
    value: 'BYTES',
    help: 'largest request body',
    default: 1_048_576,
    ...wholeNumber(1, LONGEST_BODY_BYTES),
  }),
  stopSeconds: option<number>({
    env: 'PLANTSTORE_STOP_SECONDS',
    value: 'SECONDS',
    help: 'time limit for a graceful stop',
    default: 8,
    ...wholeNumber(0, 3600),
  }),
  logRequests: option<boolean>({
    env: 'PLANTSTORE_LOG_REQUESTS',
    value: null,
    help: 'log every request',
    default: false,
    ...isSet,
  }),
  logLevel: option<Level>({
    env: 'PLANTSTORE_LOG_LEVEL',
    value: 'LEVEL',
    help: 'least level to log: info, warn or error',
    default: 'info',
    ...oneOf(...levels),
  }),
  console: option<boolean>({
    env: 'PLANTSTORE_CONSOLE',
    value: null,
    help: 'leave out the pages at / and /docs',
    default: true,
    ...isSet,
  }),
  backupFolder: option<string | null>({
    env: 'PLANTSTORE_BACKUP_FOLDER',
    value: 'DIR',
    help: 'make backups in this folder while serving',
    default: null,
    ...nonEmpty,
  }),
  backupEvery: option<number | null>({
    env: 'PLANTSTORE_BACKUP_EVERY',
    value: 'DURATION',
    help: 'time between backups, such as 12h; default: 24h',
    default: null,
    ...duration,
    rule: 'takes 1s to 1000y, such as 24h',
  }),
  backupKeep: option<number | null>({
    env: 'PLANTSTORE_BACKUP_KEEP',
    value: 'COUNT',
    help: 'how many backups to keep; default: 7',
    default: null,
    ...wholeNumber(1, 9999),
  }),
  trustedProxies: option<string | null>({
    env: 'PLANTSTORE_TRUSTED_PROXIES',
    value: 'CIDRS',
    help: 'proxies whose X-Forwarded-For names the client',
    default: null,
    ...nonEmpty,
  }),
  rateLimit: option<number | null>({
    env: 'PLANTSTORE_RATE_LIMIT',
    value: 'N',
    help: 'requests per second for each token; default: no limit',
    default: null,
    ...wholeNumber(1, 1_000_000),
  }),
  corsOrigin: option<string | null>({
    env: 'PLANTSTORE_CORS_ORIGIN',
    value: 'ORIGINS',
    help: 'origins whose pages may call from a browser',
    default: null,
    ...nonEmpty,
  }),
  token: option<string | null>({
    env: 'PLANTSTORE_TOKEN',
    value: null,
    help: 'an extra token, accepted alongside stored ones',
    default: null,
    ...nonEmpty,
  }),
  tokenFile: option<string | null>({
    env: 'PLANTSTORE_TOKEN_FILE',
    value: null,
    help: 'a file with such a token; SIGHUP reads it again',
    default: null,
    ...nonEmpty,
  }),
  scope: option<Scope>({
    env: null,
    value: 'SCOPE',
    help: 'read, or write for both',
    default: 'write',
    ...oneOf(...scopes),
  }),
  expires: option<number | null>({
    env: null,
    value: 'DURATION',
    help: 'lifetime, such as 90d, 12h or 1y; default: never',
    default: null,
    ...duration,
  }),
  json: option<boolean>({
    env: null,
    value: null,
    help: 'print a JSON array',
    default: false,
    ...isSet,
  }),
  olderThan: option<number | null>({
    env: null,
    value: 'DURATION',
    help: 'only tokens that ended this long ago, such as 30d',
    default: null,
    ...duration,
  }),
  format: option<Format | null>({
    env: null,
    value: 'FORMAT',
    help: 'ndjson or csv; default: by the file name',
    default: null,
    ...oneOf(...formats),
  }),
  delimiter: option<string | null>({
    env: null,
    value: 'CHARACTER',
    help: 'of CSV, such as ";", or "tab"; default: by its header',
    default: null,
    parse: (text) => (text === 'tab' ? '\t' : /^[^"\w\s]$/.test(text) ? text : undefined),
    rule: 'must be one character, such as ";", or "tab"',
  }),
  escapeFormulas: option<boolean>({
    env: null,
    value: null,
    help: "write a name such as =A1 as '=A1, for spreadsheets",
    default: false,
    ...isSet,
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
    help: 'replace stored plants that differ',
    default: false,
    ...isSet,
  }),
  after: option<string | null>({
    env: null,
    value: 'CURSOR',
    help: 'only changes after this cursor; "now": from now on',
    default: null,
    ...nonEmpty,
  }),
  follow: option<boolean>({
    env: null,
    value: null,
    help: 'go on with what happens',
    default: false,
    ...isSet,
  }),
  url: option<string | null>({
    env: 'PLANTSTORE_URL',
    value: 'URL',
    help: 'ask the daemon at this address',
    default: null,
    parse: (text) => (/^https?:\/\/[^@]+$/.test(text) && URL.canParse(text) ? text : undefined),
    rule: 'must begin with http:// or https://',
  }),
  cursorFile: option<string | null>({
    env: 'PLANTSTORE_CURSOR_FILE',
    value: 'FILE',
    help: 'keeps the cursor of the last change that was taken',
    default: null,
    ...nonEmpty,
  }),
  secretFile: option<string | null>({
    env: 'PLANTSTORE_SECRET_FILE',
    value: 'FILE',
    help: 'the secrets that sign, one a line',
    default: null,
    ...nonEmpty,
  }),
} as const

export type Options = typeof options
export type OptionName = keyof Options

/** What options are for a command, where that differs from what they are for most. */
export type Wording = { readonly [Name in OptionName]?: Partial<Record<'value' | 'help', string>> }
