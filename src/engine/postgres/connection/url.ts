// The URL of a PostgreSQL server, as libpq reads it: several hosts, unix sockets, TLS.
// https://www.postgresql.org/docs/current/libpq-connect.html#LIBPQ-CONNSTRING-URIS

import { isIP } from 'node:net'
import { hostname } from 'node:os'
import { UsageError } from '../../../errors'
import { readSecret } from '../../../files/input'
import { type DatabaseSecrets, withoutPassword } from '../../database-url'

const SSL_MODES = ['disable', 'require', 'verify-ca', 'verify-full'] as const
type SslMode = (typeof SSL_MODES)[number]

/** A server; a host that begins with a slash is the folder of a unix socket. */
export type Host = { readonly host: string; readonly port: number }

/** A database, and the way to connect to it. */
export type PostgresTarget = {
  readonly hosts: readonly Host[]
  readonly database: string
  readonly user: string
  /** The password; empty for none. A file is read each time, so that the password can change. */
  readonly readPassword: () => string
  readonly sslmode: SslMode
  /** A PEM file of trusted CAs; null for Bun's defaults. */
  readonly caFile: string | null
  /** PEM files of a client certificate; null for password authentication. */
  readonly client: { readonly certFile: string; readonly keyFile: string } | null
  /** Settings of the session, by their names in PostgreSQL; `options`: those of the server's command line. */
  readonly startup: Readonly<Record<string, string>>
  /** False for PgBouncer in transaction mode: no prepared statements, no session settings. */
  readonly prepare: boolean
  /** Time limit for connecting to each host. */
  readonly connectMs: number
  /** The URL for logs and messages, without a password. */
  readonly redacted: string
}

const URL_FORM = /^postgres(?:ql)?:\/\/(?:([^@/?#]*)@)?([^@/?#]*)\/([^@/?#]+)(?:\?([^#]*))?$/i
const PORT = 5432
const CONNECT_SECONDS = 5

// The longest time is some days.
const NUMBER = /^[1-9]\d{0,5}$/

/** The parameters, and their values: any, some, or a number. Others are not supported, or would admit standbys. */
const PARAMETERS = {
  host: null,
  port: null,
  sslmode: [...SSL_MODES, 'allow', 'prefer'],
  sslrootcert: null,
  sslcert: null,
  sslkey: null,
  channel_binding: ['disable', 'prefer'],
  application_name: null,
  options: null,
  search_path: null,
  keepalives: ['1'],
  keepalives_idle: NUMBER,
  keepalives_interval: NUMBER,
  keepalives_count: NUMBER,
  tcp_user_timeout: NUMBER,
  prepare: ['true', 'false'],
  connect_timeout: NUMBER,
  target_session_attrs: ['read-write', 'primary'],
} as const
type Parameter = keyof typeof PARAMETERS
type Parameters = Partial<Record<Parameter, string>>

const isParameter = (name: string): name is Parameter => Object.hasOwn(PARAMETERS, name)

// Shows no part of the URL: any of them may hold an unescaped password.
const malformedUrl = () =>
  new UsageError(
    'the database URL must look like postgres://user@host:5432/name; write @ : / ? # % within a part as %40 %3A %2F %3F %23 %25',
  )

function decode(text: string): string {
  try {
    const decoded = decodeURIComponent(text)
    if (!decoded.includes('\0')) return decoded
  } catch {}
  throw malformedUrl()
}

const refuse = (reason: string): never => {
  throw new UsageError(`the database URL: ${reason}`)
}

function checkParameter(name: Parameter, value: string): void {
  const form: RegExp | readonly string[] | null = PARAMETERS[name]
  if (form instanceof RegExp) {
    if (!form.test(value)) refuse(`${name} must be a whole number above 0`)
  } else if (form && !form.includes(value)) refuse(`${name} must be ${form.join(' or ')}`)
}

function readParameters(query: string): Parameters {
  const parameters: Parameters = {}
  for (const pair of query.split('&').filter(Boolean)) {
    const [name = '', text = '', ...rest] = pair.split('=')
    if (!isParameter(name)) {
      const shownName = /^[a-z_]{1,40}$/i.test(name) ? ` ${name}` : ''
      return refuse(
        `unsupported parameter${shownName}; supported: ${Object.keys(PARAMETERS).join(', ')}`,
      )
    }
    if (parameters[name] !== undefined || rest.length > 0) throw malformedUrl()
    const value = decode(text)
    checkParameter(name, value)
    parameters[name] = value
  }
  return parameters
}

function readPort(text: string): number {
  const port = NUMBER.test(text) ? Number(text) : 0
  return port > 0 && port < 65_536 ? port : refuse('a port must be a whole number from 1 to 65535')
}

/** Parses `host`, `host:port`, `[::1]:port` or `%2Fpath`. */
function readHost(text: string, usualPort: number): Host {
  const [, bracketed, plain, port] = /^(?:\[([^\]]+)\]|([^:[\]]+))(?::(.*))?$/.exec(text) ?? []
  const host = bracketed ?? decode(plain ?? '')
  if (!host || (bracketed !== undefined && isIP(bracketed) !== 6)) throw malformedUrl()
  return { host, port: port ? readPort(port) : usualPort }
}

/** The hosts of the authority, or of `?host=`. `?port=` has one port for those without, or one for each. */
function readHosts(authority: string, { host = '', port }: Parameters): Host[] {
  if (!authority === !host)
    refuse('it must name its hosts once; a unix socket: ?host=/run/postgresql')
  const names = (authority || host).split(',')
  const ports = port?.split(',').map(readPort) ?? [PORT]
  if (ports.length > 1 && ports.length !== names.length)
    refuse('it needs one port, or one for each host')
  return names.map((name, index) => readHost(name, ports[index] ?? ports[0] ?? PORT))
}

export const isSocket = ({ host }: Host): boolean => host.startsWith('/')

const isNear = ({ host }: Host): boolean => /^(\/.*|localhost|::1|127\.[\d.]+)$/.test(host)

/** `h1:5432`, `[::1]:5432`, or the path of a unix socket. */
export const addressOf = (host: Host): string =>
  isSocket(host)
    ? `${host.host}/.s.PGSQL.${host.port}`
    : `${host.host.includes(':') ? `[${host.host}]` : host.host}:${host.port}`

/** By default, a password crosses a network only to a verified server. */
const sslModeOf = (hosts: readonly Host[], text: string | undefined): SslMode =>
  SSL_MODES.find((mode) => mode === text) ?? (hosts.every(isNear) ? 'disable' : 'verify-full')

function readTls(hosts: readonly Host[], parameters: Parameters) {
  const { sslrootcert, sslcert, sslkey } = parameters
  const mode = sslModeOf(hosts, parameters.sslmode)
  const name = ['sslrootcert', 'sslcert', 'sslkey'].find((parameter) => parameter in parameters)
  if (mode === 'disable' && name) refuse(`${name} needs sslmode=verify-full or verify-ca`)
  if (!sslcert !== !sslkey) refuse('sslcert needs sslkey')
  const caFile = sslrootcert && sslrootcert !== 'system' ? sslrootcert : null
  const client = sslcert && sslkey ? { certFile: sslcert, keyFile: sslkey } : null
  // As in libpq, a named CA is checked.
  const sslmode = mode === 'require' && sslrootcert !== undefined ? 'verify-ca' : mode
  return { sslmode, caFile, client } as const
}

// libpq applies them to the client's end; here, each query has a deadline at that end.
const STARTUP_PARAMETERS = [
  'options',
  'search_path',
  'tcp_user_timeout',
  'keepalives_idle',
  'keepalives_interval',
  'keepalives_count',
] as const

function readStartup(parameters: Parameters): Record<string, string> {
  const startup: Record<string, string> = {}
  for (const name of STARTUP_PARAMETERS) {
    const value = parameters[name]
    if (!value) continue
    if (parameters.prepare === 'false') {
      refuse(`a pooler drops ${name}; remove it, and give the setting to the role with ALTER ROLE`)
    }
    startup[name.replace(/^keep/, 'tcp_keep')] = value
  }
  return { ...startup, application_name: parameters.application_name || `plantstore@${hostname()}` }
}

/** The password in a file, without the line break at its end. */
const readPasswordFile = (path: string): string =>
  readSecret('PLANTSTORE_DATABASE_PASSWORD_FILE', path).replace(/\r?\n$/, '')

function passwordOf(inUrl: string | undefined, secrets: DatabaseSecrets): () => string {
  const { databasePassword, databasePasswordFile } = secrets
  if (inUrl !== undefined && databasePasswordFile !== null) {
    refuse('it has a password: remove it, or PLANTSTORE_DATABASE_PASSWORD_FILE')
  }
  const password = inUrl === undefined ? (databasePassword ?? '') : decode(inUrl)
  if (databasePasswordFile === null) return () => password
  // At the start an unreadable file is a usage error; later, connecting is retried.
  readPasswordFile(databasePasswordFile)
  return () => readPasswordFile(databasePasswordFile)
}

/** Reads the URL of a server. Throws a {@link UsageError} that never shows a password. */
export function parsePostgresUrl(url: string, secrets: DatabaseSecrets): PostgresTarget {
  const [, userInfo = '', authority = '', name = '', query = ''] = URL_FORM.exec(url) ?? []
  if (name === '') throw malformedUrl()
  const [userText = '', ...passwords] = userInfo.split(':')
  if (passwords.length > 1) throw malformedUrl()
  const [user, database] = [decode(userText), decode(name)]
  if (user === '') refuse('it names no user: postgres://USER@host/name')
  const parameters = readParameters(query)
  const hosts = readHosts(authority, parameters)
  return {
    hosts,
    database,
    user,
    readPassword: passwordOf(passwords[0], secrets),
    ...readTls(hosts, parameters),
    startup: readStartup(parameters),
    prepare: parameters.prepare !== 'false',
    connectMs: Number(parameters.connect_timeout ?? CONNECT_SECONDS) * 1000,
    redacted: withoutPassword(url),
  }
}
