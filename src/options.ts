import { parseDuration, type Scope, scopes } from './token'

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

const formats = ['ndjson', 'csv'] as const
/** How a file holds plants: JSON, one plant a line; or comma-separated values (RFC 4180). */
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

/** The longest body of a request that a daemon can be told to take. */
export const LONGEST_BODY_BYTES = 67_108_864

/** Every option of every command: its flag, its environment variable, its default. */
export const options = {
  host: option<string>({
    env: 'PLANTSTORE_HOST',
    value: 'ADDRESS',
    help: 'address to listen on; 0.0.0.0 is every one',
    default: '127.0.0.1',
    // An IPv6 address as it stands in a URL (RFC 3986, section 3.2.2) is meant without its brackets.
    parse: (text) => text.replace(/^\[(.*)\]$/, '$1') || undefined,
    expected: 'an address',
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
    ...wholeNumber(1, LONGEST_BODY_BYTES),
  }),
  stopSeconds: option<number>({
    env: 'PLANTSTORE_STOP_SECONDS',
    value: 'SECONDS',
    help: 'longest wait for requests in flight when told to stop',
    default: 8,
    ...wholeNumber(0, 3600),
  }),
  logRequests: option<boolean>({
    env: 'PLANTSTORE_LOG_REQUESTS',
    value: null,
    help: 'log one line a request; --no-log-requests does not',
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
