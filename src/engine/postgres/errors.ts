// What an error of PostgreSQL, or of the connection to it, means.
// https://www.postgresql.org/docs/current/errcodes-appendix.html

import { lookup } from 'node:dns/promises'
import { codeOf, type ErrorNumber, messageOf, OpenError } from '../../errors'
import { addressOf, type Host, isSocket, type PostgresTarget } from './url'

/** The code of what did not end by its deadline. */
export const DEADLINE = 'PLANTSTORE_DEADLINE'

/** An error of a deadline: nobody knows whether the server did what was asked of it. */
export const deadlineError = (milliseconds: number): Error =>
  Object.assign(new Error(`no answer within ${milliseconds / 1000} s`), { code: DEADLINE })

/** The SQLSTATE that a server answered; empty where it is not the server that speaks. */
export function sqlStateOf(error: unknown): string {
  if (codeOf(error) !== 'ERR_POSTGRES_SERVER_ERROR') return ''
  const { errno } = error as { errno?: unknown }
  return typeof errno === 'string' ? errno : ''
}

// Of the fields S, which is translated, and V, which is not, Bun keeps the last: V, as PostgreSQL sends them.
function severityOf(error: unknown): string {
  const { severity } = error instanceof Error ? (error as { severity?: unknown }) : {}
  return typeof severity === 'string' ? severity : ''
}

/** Whether the connection is gone or of no use, so that what it was asked for may have been done or not. */
export const isInDoubt = (error: unknown): boolean => {
  const state = sqlStateOf(error)
  // A server that fails to write its log ends with a PANIC: the commit may be in it, and be made by the recovery.
  if (/^(FATAL|PANIC)$/.test(severityOf(error))) return true
  // 57P01 to 57P05, 25P03, 25P04: the server ends this connection. 08: it does not follow the protocol.
  return state === '' || /^(57P|08|25P03|25P04)/.test(state)
}

/** Whether the server cannot be written to any more, as after a failover: another host has to be found. */
export const isReadOnlyServer = (error: unknown): boolean => sqlStateOf(error) === '25006'

/** Whether another try of the whole transaction may succeed: a row made meanwhile, a deadlock, a conflict. */
export const isRetried = (error: unknown): boolean =>
  ['23505', '40P01', '40001'].includes(sqlStateOf(error))

/** The number of the catalogue for what the server answered. */
export function errorNumberOf(error: unknown): ErrorNumber {
  const state = sqlStateOf(error)
  if (state === '53100') return 50701
  if (state.startsWith('53') || state === '55P03') return 50301
  return 50302
}

// Codes of OpenSSL, as Bun names them.
const UNTRUSTED =
  /^(UNABLE_TO_(VERIFY_LEAF_SIGNATURE|GET_ISSUER_CERT(_LOCALLY)?)|(DEPTH_ZERO_)?SELF_SIGNED_CERT(_IN_CHAIN)?|CERT_UNTRUSTED)$/

/** Whether a name is known; a name server that does not answer counts as if it were, as the refusal is then said. */
async function isKnown({ host }: Host): Promise<boolean> {
  try {
    await lookup(host)
    return true
  } catch (error) {
    return codeOf(error) !== 'ENOTFOUND'
  }
}

/** Why the server refused the connection, and what to do. */
function explainState(error: unknown, { user, database, prepare }: PostgresTarget): string | null {
  const state = sqlStateOf(error)
  const message = messageOf(error)
  switch (state) {
    case '28P01':
      return `wrong password for user ${JSON.stringify(user)}`
    case '3D000':
      return `there is no database ${JSON.stringify(database)}; create it: CREATE DATABASE … ENCODING 'UTF8'`
    case '53300':
      return 'too many connections; raise max_connections, or end other clients'
    case '57P03':
      return `not ready: ${message}`
    case '08P01':
      return prepare && message.includes('startup parameter')
        ? 'a pooler is between: add prepare=false to the URL'
        : message
    case '':
      return null
    default:
      return `${message} (${state})`
  }
}

/** Why there is no connection to a host, in words that fit behind its address and a colon. */
export async function explainConnecting(
  error: unknown,
  host: Host,
  target: PostgresTarget,
): Promise<string> {
  const code = codeOf(error)
  if (error instanceof OpenError || code === DEADLINE) return messageOf(error)
  if (UNTRUSTED.test(code)) {
    return 'its certificate is not signed by a trusted CA; name the CA in the URL: sslrootcert=FILE'
  }
  switch (code) {
    case 'ERR_POSTGRES_CONNECTION_REFUSED':
      if (isSocket(host)) return 'there is no such unix socket, or nothing listens on it'
      return (await isKnown(host)) ? 'connection refused' : `cannot resolve host ${host.host}`
    case 'ERR_POSTGRES_CONNECTION_CLOSED':
      return 'the server closed the connection'
    case 'ERR_POSTGRES_TLS_NOT_AVAILABLE':
      return 'the server has no TLS; set ssl=on there, or sslmode=disable in the URL if the network is private'
    case 'ERR_TLS_CERT_ALTNAME_INVALID':
      return `its certificate is not for ${host.host}; connect by a name that it has, or set sslmode=verify-ca in the URL`
    case 'CERT_HAS_EXPIRED':
      return 'its certificate has expired'
    default:
      return explainState(error, target) ?? messageOf(error)
  }
}

/** The one line of why no host of a target can be used. */
export function noConnection(
  failures: readonly { readonly host: Host; readonly reason: string }[],
): OpenError {
  const [first, ...others] = failures
  if (first && others.length === 0) {
    return new OpenError(
      `cannot connect to PostgreSQL at ${addressOf(first.host)}: ${first.reason}`,
    )
  }
  const all = failures.map(({ host, reason }) => `${addressOf(host)}: ${reason}`)
  return new OpenError(`no writable PostgreSQL server: ${all.join('; ')}`)
}

/** The same of one server that was there, and was lost, or refused, before it could be used. */
export async function explainOpening(
  error: unknown,
  address: string,
  target: PostgresTarget,
): Promise<unknown> {
  const host = target.hosts.find((it) => addressOf(it) === address)
  if (error instanceof OpenError || !host) return error
  return noConnection([{ host, reason: await explainConnecting(error, host, target) }])
}
