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
  /** A PEM file of trusted CAs; null: Bun's defaults. */
  readonly caFile: string | null
  /** PEM files of a client certificate; null: password authentication. */
  readonly client: { readonly certFile: string; readonly keyFile: string } | null
  readonly applicationName: string
  /** Settings for the server's command line, such as `-c work_mem=64MB`. */
  readonly options: string | null
  readonly searchPath: string | null
  /** Settings of the server's end of the TCP connections. */
  readonly tcp: Readonly<Record<string, string>>
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

const PARAMETERS = [
  'host',
  'port',
  'sslmode',
  'sslrootcert',
  'sslcert',
  'sslkey',
  'channel_binding',
  'application_name',
  'options',
  'keepalives',
  'keepalives_idle',
  'keepalives_interval',
  'keepalives_count',
  'tcp_user_timeout',
  'search_path',
  'prepare',
  'connect_timeout',
  'target_session_attrs',
] as const
type Parameter = (typeof PARAMETERS)[number]
type Parameters = Partial<Record<Parameter, string>>

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

function readParameters(query: string): Parameters {
  const parameters: Parameters = {}
  for (const pair of query.split('&').filter(Boolean)) {
    const [name = '', value = '', ...rest] = pair.split('=')
    const parameter = PARAMETERS.find((parameter) => parameter === name)
    if (parameter === undefined) {
      const shownName = /^[a-z_]{1,40}$/i.test(name) ? ` ${name}` : ''
      throw new UsageError(
        `unsupported parameter${shownName} in the database URL; supported: ${PARAMETERS.join(', ')}`,
      )
    }
    if (parameters[parameter] !== undefined || rest.length > 0) throw malformedUrl()
    parameters[parameter] = decode(value)
  }
  return parameters
}

function readPort(text: string): number {
  const port = /^\d{1,5}$/.test(text) ? Number(text) : 0
  if (port < 1 || port > 65_535) {
    throw new UsageError('the database URL: a port must be a whole number from 1 to 65535')
  }
  return port
}

/** Parses `host`, `host:port`, `[::1]:port` or `%2Fpath`. */
function readHost(text: string): Host {
  const [, bracketed, plain, port] = /^(?:\[([^\]]+)\]|([^:[\]]+))(?::(.*))?$/.exec(text) ?? []
  const host = bracketed ?? decode(plain ?? '')
  if (!host || (bracketed !== undefined && isIP(bracketed) !== 6)) throw malformedUrl()
  return { host, port: port ? readPort(port) : PORT }
}

/** The hosts of the authority; or those of `?host=` with the ports of `?port=`, one for all or one each. */
function readHosts(authority: string, { host, port }: Parameters): Host[] {
  const ports = port?.split(',').map(readPort) ?? []
  if (authority !== '') {
    if (host !== undefined || port !== undefined) {
      throw new UsageError('the database URL names its host twice')
    }
    return authority.split(',').map(readHost)
  }
  const hosts = host?.split(',') ?? []
  if (hosts.length === 0 || hosts.includes('')) {
    throw new UsageError('the database URL names no host; for a unix socket: ?host=/run/postgresql')
  }
  if (ports.length > 1 && ports.length !== hosts.length) {
    throw new UsageError('the database URL needs one port, or one for each host')
  }
  return hosts.map((name, index) => ({ host: name, port: ports[index] ?? ports[0] ?? PORT }))
}

export const isSocket = ({ host }: Host): boolean => host.startsWith('/')

const isNear = (host: Host): boolean =>
  isSocket(host) ||
  host.host === 'localhost' ||
  host.host === '::1' ||
  /^127\.[\d.]+$/.test(host.host)

/** `h1:5432`, `[::1]:5432`, or the path of a unix socket. */
export const addressOf = (host: Host): string =>
  isSocket(host)
    ? `${host.host}/.s.PGSQL.${host.port}`
    : `${host.host.includes(':') ? `[${host.host}]` : host.host}:${host.port}`

function oneOf<Value extends string>(
  name: Parameter,
  value: string | undefined,
  values: readonly Value[],
): Value | undefined {
  if (value === undefined) return undefined
  const match = values.find((allowed) => allowed === value)
  if (match === undefined) {
    throw new UsageError(`the database URL: ${name} must be ${values.join(' or ')}`)
  }
  return match
}

function readSslMode(hosts: readonly Host[], text: string | undefined): SslMode {
  // By default, a password crosses a network only to a verified server.
  const usual = hosts.every(isNear) ? 'disable' : 'verify-full'
  if (text !== 'allow' && text !== 'prefer') return oneOf('sslmode', text, SSL_MODES) ?? usual
  // Both encrypt only if the server does: allowed only where eavesdropping is impossible.
  if (usual === 'disable') return usual
  throw new UsageError(
    `the database URL: sslmode=${text} may send a password unencrypted; use verify-full, or require`,
  )
}

function readTls(hosts: readonly Host[], parameters: Parameters) {
  const { sslrootcert, sslcert, sslkey, channel_binding } = parameters
  const mode = readSslMode(hosts, parameters.sslmode)
  const name = ['sslrootcert', 'sslcert', 'sslkey'].find((parameter) => parameter in parameters)
  if (mode === 'disable' && name) {
    throw new UsageError(`the database URL: ${name} needs sslmode=verify-full or verify-ca`)
  }
  if (!sslcert !== !sslkey) throw new UsageError('the database URL: sslcert needs sslkey')
  if (channel_binding === 'require') {
    throw new UsageError(
      'the database URL: channel_binding=require is not supported; remove it, and use sslmode=verify-full',
    )
  }
  oneOf('channel_binding', channel_binding, ['disable', 'prefer'])
  const caFile = sslrootcert && sslrootcert !== 'system' ? sslrootcert : null
  const client = sslcert && sslkey ? { certFile: sslcert, keyFile: sslkey } : null
  // As in libpq, a named CA is checked.
  const sslmode = mode === 'require' && sslrootcert !== undefined ? 'verify-ca' : mode
  return { sslmode, caFile, client } as const
}

// libpq applies them to the client's end; here, each query has a deadline at that end.
const TCP_SETTINGS = [
  ['tcp_user_timeout', 'tcp_user_timeout'],
  ['keepalives_idle', 'tcp_keepalives_idle'],
  ['keepalives_interval', 'tcp_keepalives_interval'],
  ['keepalives_count', 'tcp_keepalives_count'],
] as const

type TcpParameter = (typeof TCP_SETTINGS)[number][0]

function readTcp(parameters: Parameters): Record<string, string> {
  oneOf('keepalives', parameters.keepalives, ['1'])
  return Object.fromEntries(
    TCP_SETTINGS.flatMap(([name, setting]) => {
      const value = parameters[name]
      if (value === undefined) return []
      if (!/^[1-9]\d{0,8}$/.test(value)) {
        throw new UsageError(`the database URL: ${name} must be a whole number above 0`)
      }
      return [[setting, value]]
    }),
  )
}

const quote = (text: string): string => `'${text.replaceAll("'", "''")}'`

// Settings whose value is a list of identifiers: SET takes each as a text.
const LISTS = /^(search_path|temp_tablespaces|(local|session)_preload_libraries)$/

/** The identifiers of a list, as PostgreSQL reads it: those without quotes are lower case. */
export const identifiersIn = (list: string): string[] =>
  [...list.matchAll(/"((?:[^"]|"")*)"|[^\s,"][^\s,]*/g)].map(
    ([text, quoted]) =>
      quoted?.replaceAll('""', '"') ?? text.replace(/[A-Z]/g, (letter) => letter.toLowerCase()),
  )

/** A role, in quotes: the name of any is right so. */
const roleNamed = (user: string): string => `"${user.replaceAll('"', '""')}"`

/** The statement that gives a role a setting; `role`: in quotes, and with its database if there it has its own. */
export function alterRole(role: string, name: string, value: string): string {
  const values = LISTS.test(name) ? identifiersIn(value) : [value]
  return `ALTER ROLE ${role} SET ${name} = ${values.map(quote).join(', ')}`
}

const OPTION = /(?:^|\s)-(?:c\s*|-)([\w.-]+)=((?:\\.|[^\\\s])*)/gs

/** The settings in `options`, such as `-c work_mem=64MB --jit=off`. Empty if it has anything else. */
function settingsIn(options: string): (readonly [name: string, value: string])[] {
  if (options.replace(OPTION, '').trim() !== '') return []
  return [...options.matchAll(OPTION)].map(([, name = '', value = '']) => [
    name.replaceAll('-', '_'),
    value.replace(/\\(.)/gs, '$1'),
  ])
}

/** The statements that give a role what a pooler drops. */
function settingsOf(dropped: 'options' | TcpParameter, value: string, user: string): string {
  const setting = TCP_SETTINGS.find(([name]) => name === dropped)?.[1]
  const settings = setting ? [[setting, value] as const] : settingsIn(value)
  if (settings.length === 0) return 'ALTER ROLE … SET …'
  return settings.map(([name, text]) => alterRole(roleNamed(user), name, text)).join('; ')
}

function readPrepare(parameters: Parameters, user: string): boolean {
  const prepare = oneOf('prepare', parameters.prepare, ['true', 'false']) !== 'false'
  const tcp = TCP_SETTINGS.map(([name]) => name)
  const dropped = ['options' as const, ...tcp].find((name) => parameters[name])
  if (prepare || !dropped) return prepare
  const statements = settingsOf(dropped, parameters[dropped] ?? '', user)
  throw new UsageError(
    `the database URL: a pooler drops ${dropped}; remove it, and give the setting to the role: ${statements}`,
  )
}

/** The password in a file, without the line break at its end. */
const readPasswordFile = (path: string): string =>
  readSecret('PLANTSTORE_DATABASE_PASSWORD_FILE', path).replace(/\r?\n$/, '')

function passwordOf(inUrl: string | undefined, secrets: DatabaseSecrets): () => string {
  const { databasePassword, databasePasswordFile } = secrets
  if (inUrl !== undefined && databasePasswordFile !== null) {
    throw new UsageError(
      'the database URL has a password: remove it, or PLANTSTORE_DATABASE_PASSWORD_FILE',
    )
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
  if (user === '') throw new UsageError('the database URL names no user: postgres://USER@host/name')
  const parameters = readParameters(query)
  const hosts = readHosts(authority, parameters)
  // Any other value would admit servers that reject writes.
  oneOf('target_session_attrs', parameters.target_session_attrs, ['read-write', 'primary'])
  const seconds = parameters.connect_timeout ?? String(CONNECT_SECONDS)
  if (!/^[1-9]\d{0,2}$/.test(seconds)) {
    throw new UsageError('the database URL: connect_timeout must be 1 to 999 seconds')
  }
  return {
    hosts,
    database,
    user,
    readPassword: passwordOf(passwords[0], secrets),
    ...readTls(hosts, parameters),
    applicationName: parameters.application_name || `plantstore@${hostname()}`,
    options: parameters.options || null,
    searchPath: parameters.search_path || null,
    tcp: readTcp(parameters),
    prepare: readPrepare(parameters, user),
    connectMs: Number(seconds) * 1000,
    redacted: withoutPassword(url),
  }
}
