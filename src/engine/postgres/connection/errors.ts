// Classifies the errors of PostgreSQL and of connections to it.
// https://www.postgresql.org/docs/current/errcodes-appendix.html

import { lookup } from 'node:dns/promises'
import {
  codeOf,
  type ErrorName,
  isUntrusted,
  messageOf,
  OpenError,
  safeMessage,
} from '../../../errors'
import { addressOf, type Host, isSocket, type PostgresTarget } from './url'

/** A missed deadline: the query may or may not have been executed. */
export const deadlineError = (milliseconds: number): Error =>
  Object.assign(new Error(`no answer within ${milliseconds / 1000} s`), {
    code: 'PLANTSTORE_DEADLINE',
  })

/** The SQLSTATE of a server's answer; empty for any other error. */
export function sqlStateOf(error: unknown): string {
  if (codeOf(error) !== 'ERR_POSTGRES_SERVER_ERROR') return ''
  const { errno } = error as { errno?: unknown }
  return typeof errno === 'string' ? errno : ''
}

/** True if the connection is lost: the query may or may not have been executed. */
export function isInDoubt(error: unknown): boolean {
  const state = sqlStateOf(error)
  // PostgreSQL sends the severity twice: S, translated, then V, untranslated. Bun keeps the last.
  const severity = (error as { severity?: unknown } | null)?.severity
  // A server that cannot write its WAL panics. If the commit is in the WAL, recovery applies it.
  if (severity === 'FATAL' || severity === 'PANIC') return true
  // 57P01 to 57P05, 25P03, 25P04: the server ends this connection. 08: the protocol is violated.
  return state === '' || /^(57P|08|25P03|25P04)/.test(state)
}

/** True if the server has become read-only, as after a failover: another host must be found. */
export const isReadOnlyServer = (error: unknown): boolean => sqlStateOf(error) === '25006'

/** True if a server is starting up or shutting down, and will answer later. */
export const isStarting = (error: unknown): boolean => sqlStateOf(error) === '57P03'

/** The name of an index without the "_ccnew" or "_ccold" that REINDEX CONCURRENTLY adds for a while. */
const indexNamed = (name: string): string => name.replace(/_cc(new|old)\d*$/, '')

// Another process inserted the plant after the check. A unique index of another program would fail every retry.
function isIdTaken(error: unknown): boolean {
  const { constraint } = error as { constraint?: unknown }
  return typeof constraint === 'string' && indexNamed(constraint) === 'plants_pkey'
}

/** True if the transaction conflicted with another, and may succeed if retried. */
export function isRetried(error: unknown): boolean {
  const state = sqlStateOf(error)
  if (state === '23505') return isIdTaken(error)
  return state === '40P01' || state === '40001'
}

/** True if the lock of a row or table was not granted in time. */
export const isLockTimeout = (error: unknown): boolean => sqlStateOf(error) === '55P03'

/** True if a statement waited for a lock until a time limit of the server. The next attempt may succeed. */
const hasWaited = (error: unknown): boolean => isLockTimeout(error) || sqlStateOf(error) === '57014'

/** True if the server rejects a value: one change is at fault, not the server. */
export const isDataError = (error: unknown): boolean => /^(22|23|54)/.test(sqlStateOf(error))

/**
 * True if a refusal is the fault neither of the data nor of a single statement, such as one that took too long. A lock
 * that is not granted here is a table's: locked rows are left out.
 */
export const isOfServer = (error: unknown): boolean =>
  sqlStateOf(error) !== '' &&
  !isRetried(error) &&
  !isDataError(error) &&
  (!hasWaited(error) || isLockTimeout(error))

/** The SQLSTATE of a write with fewer rows written than sent: `division_by_zero`, see apply-writes.ts. */
export const DISCARDED = '22012'

/** The error shown to clients for a server that lacks resources or a lock; null for any other. */
export function errorNameOf(error: unknown): ErrorName | null {
  const state = sqlStateOf(error)
  if (state === '53100') return 'disk full'
  // 40001 and 40P01: on a standby, a conflict with the replay of its primary's changes.
  if (state.startsWith('53') || isLockTimeout(error) || /^40(001|P01)$/.test(state)) return 'busy'
  return null
}

export const CLOSED = 'the server closed the connection'
const NO_POSTGRES = 'not a PostgreSQL server; check the host and the port'
const OTHER_METHOD = 'unsupported authentication method; use scram-sha-256 in pg_hba.conf'

// Texts for the codes of Bun's own errors.
const REASONS: Readonly<Record<string, string>> = {
  ERR_POSTGRES_CONNECTION_CLOSED: CLOSED,
  ECONNRESET: CLOSED,
  ERR_POSTGRES_INVALID_MESSAGE: NO_POSTGRES,
  ERR_POSTGRES_INVALID_MESSAGE_LENGTH: NO_POSTGRES,
  ERR_POSTGRES_UNEXPECTED_MESSAGE: NO_POSTGRES,
  ERR_POSTGRES_UNSUPPORTED_AUTHENTICATION_METHOD: OTHER_METHOD,
  ERR_POSTGRES_UNKNOWN_AUTHENTICATION_METHOD: OTHER_METHOD,
  ERR_POSTGRES_SASL_NO_KNOWN_MECHANISM: OTHER_METHOD,
  ERR_POSTGRES_TLS_NOT_AVAILABLE:
    'the server has no TLS; set ssl=on on the server, or sslmode=disable in the URL if the network is private',
  EPROTO: 'the TLS handshake failed',
  CERT_HAS_EXPIRED: 'its certificate has expired',
  CERT_NOT_YET_VALID: 'its certificate is not valid yet',
  ERR_BORINGSSL: 'sslrootcert, sslcert or sslkey is not valid PEM',
}

/** The same error without the password in its message: a server or a pooler may repeat its input. */
export function hidePassword(error: unknown, password: string): unknown {
  const message = safeMessage(error, [password])
  // The message of a DOMException is read-only.
  if (error instanceof Error && error.message !== message) error.message = message
  return error
}

/** The reason that nothing accepted a connection. Bun reports a name that does not resolve as a refusal. */
async function explainRefusal({ host }: Host): Promise<string> {
  try {
    await lookup(host)
    return 'connection refused'
  } catch (error) {
    const isUnknown = codeOf(error) === 'ENOTFOUND'
    return `cannot resolve host ${host}${isUnknown ? '' : ': no name server answers'}`
  }
}

const NO_PASSWORD =
  ': none was given; set PLANTSTORE_DATABASE_PASSWORD_FILE or PGPASSWORD (~/.pgpass is not read)'

/** The reason that a host cannot be used, and the fix: the text after its address and a colon. */
export async function explainFailedConnection(
  error: unknown,
  host: Host,
  { user, prepare, readPassword }: PostgresTarget,
): Promise<string> {
  const [code, state, message] = [codeOf(error), sqlStateOf(error), messageOf(error)]
  if (isUntrusted(error)) {
    return 'its certificate is not signed by a trusted CA; add the CA to the URL: sslrootcert=FILE'
  }
  switch (state || code) {
    case 'ERR_POSTGRES_CONNECTION_REFUSED':
      if (isSocket(host)) return 'no such unix socket, or nothing is listening on it'
      return explainRefusal(host)
    case 'ERR_TLS_CERT_ALTNAME_INVALID':
      return `its certificate is not for ${host.host}; connect by a name in the certificate, or set sslmode=verify-ca in the URL`
    case '28P01':
      return `wrong password for user ${JSON.stringify(user)}${readPassword() ? '' : NO_PASSWORD}`
    case '08P01':
      return prepare && message.includes('startup parameter')
        ? 'connected through a pooler: add prepare=false to the URL'
        : message
    default:
      return state ? `${message} (${state})` : (REASONS[code] ?? message)
  }
}

/** The reason that no host can be used, in one line. */
export function noServerError(
  failures: readonly { readonly host: Host; readonly reason: string }[],
): OpenError {
  const [first, ...otherFailures] = failures
  if (first && otherFailures.length === 0) {
    return new OpenError(
      `cannot connect to PostgreSQL at ${addressOf(first.host)}: ${first.reason}`,
    )
  }
  const all = failures.map(({ host, reason }) => `${addressOf(host)}: ${reason}`)
  return new OpenError(`no usable PostgreSQL server: ${all.join('; ')}`)
}

/** The reason that a connected server was lost or refused. */
export async function explainUnusableServer(
  error: unknown,
  host: Host,
  target: PostgresTarget,
): Promise<unknown> {
  if (error instanceof OpenError) return error
  return noServerError([{ host, reason: await explainFailedConnection(error, host, target) }])
}
