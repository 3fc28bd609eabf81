// Classifies the errors of PostgreSQL and of connections to it.
// https://www.postgresql.org/docs/current/errcodes-appendix.html

import { lookup } from 'node:dns/promises'
import { codeOf, messageOf } from '../../../errors'
import { safeMessage } from '../../../redaction'
import type { ErrorName } from '../../../request-errors'
import { type Host, isSocket, type PostgresTarget } from './url'

/** A missed deadline: the query may or may not have been executed. */
export const deadlineError = (milliseconds: number): Error =>
  new Error(`no answer within ${milliseconds / 1000} s`)

/** The SQLSTATE of a server's answer; empty for any other error. */
export function sqlStateOf(error: unknown): string {
  if (codeOf(error) !== 'ERR_POSTGRES_SERVER_ERROR') return ''
  const { errno } = error as { errno?: unknown }
  return typeof errno === 'string' ? errno : ''
}

/** The message of an error, with its SQLSTATE or the code of Bun's driver. */
export function describeError(error: unknown): string {
  const code = codeOf(error) === 'ERR_POSTGRES_SERVER_ERROR' ? sqlStateOf(error) : codeOf(error)
  return code === '' ? messageOf(error) : `${messageOf(error)} (${code})`
}

/** True if the connection is lost: the query may or may not have been executed. */
export function isInDoubt(error: unknown): boolean {
  // PostgreSQL sends the severity twice: S, translated, then V, untranslated. Bun keeps the last.
  const severity = (error as { severity?: unknown } | null)?.severity
  // A server that cannot write its WAL panics. If the commit is in the WAL, recovery applies it.
  return sqlStateOf(error) === '' || severity === 'FATAL' || severity === 'PANIC'
}

const hasState =
  (states: RegExp) =>
  (error: unknown): boolean =>
    states.test(sqlStateOf(error))

/** True if the server has become read-only, as after a failover: another host must be found. */
export const isReadOnlyServer = hasState(/^25006/)

/** True if a server is starting up or shutting down, and will answer later. */
export const isStarting = hasState(/^57P03/)

// A unique index of another program would fail every retry. REINDEX CONCURRENTLY renames the index for a while.
const PRIMARY_KEY = /^plants_pkey(_cc(new|old)\d*)?$/

/** True if the transaction conflicted with another, such as one that has just inserted a plant, and may be retried. */
export function isRetried(error: unknown): boolean {
  const state = sqlStateOf(error)
  const { constraint } = error as { constraint?: unknown }
  return /^(40P01|40001)/.test(state) || (state === '23505' && PRIMARY_KEY.test(`${constraint}`))
}

/** True if the lock of a row or table was not granted in time. */
export const isLockTimeout = hasState(/^55P03/)

/** True if the server rejects a value: one change is at fault, not the server. */
export const isDataError = hasState(/^(22|23|54)/)

/**
 * True if a refusal is the fault neither of the data nor of a single statement, such as one that took too long. A lock
 * that is not granted here is a table's: locked rows are left out.
 */
export const isOfServer = (error: unknown): boolean =>
  !/^(|(22|23|54).*|40P01|40001|57014)$/.test(sqlStateOf(error))

/** The error shown to clients for a server that lacks resources or a lock; null for any other. */
export function errorNameOf(error: unknown): ErrorName | null {
  const state = sqlStateOf(error)
  if (state === '53100') return 'disk full'
  // 40001 and 40P01: on a standby, a conflict with the replay of its primary's changes.
  return /^(53...|55P03|40001|40P01)$/.test(state) ? 'busy' : null
}

/** The same error without the password in its message: a server or a pooler may repeat its input. */
export function hidePassword(error: unknown, password: string): unknown {
  const message = safeMessage(error, password)
  // The message of a DOMException is read-only.
  if (error instanceof Error && error.message !== message) error.message = message
  return error
}

export const THROUGH_POOLER = 'connected through a pooler: add prepare=false to the URL'

// OpenSSL's codes for a certificate that no trusted CA has signed, as Bun names them.
const UNTRUSTED = /^UNABLE_TO_|SELF_SIGNED_CERT|^CERT_UNTRUSTED$/

/** The reason that a host cannot be used, and the fix: the text after its address and a colon. */
export async function explainFailedConnection(
  error: unknown,
  host: Host,
  { prepare, readPassword }: PostgresTarget,
): Promise<string> {
  const description = describeError(error)
  // Another server, such as one of HTTP.
  if (/^ERR_POSTGRES_(INVALID|UNEXPECTED)_MESSAGE/.test(codeOf(error)))
    return 'not a PostgreSQL server; check the host and the port'
  if (UNTRUSTED.test(codeOf(error)))
    return `${description}; add the CA to the URL: sslrootcert=FILE`
  switch (sqlStateOf(error) || codeOf(error)) {
    case 'ERR_POSTGRES_CONNECTION_REFUSED':
      if (isSocket(host)) return 'nothing listens on this unix socket'
      // Bun reports a name that does not resolve as a refusal.
      return lookup(host.host).then(
        () => 'connection refused',
        (error) => `cannot resolve host ${host.host} (${codeOf(error)})`,
      )
    case '28P01':
      return readPassword() === ''
        ? `${description}; no password was given: set PLANTSTORE_DATABASE_PASSWORD_FILE or PGPASSWORD (~/.pgpass is not read)`
        : description
    case '08P01':
      return prepare && description.includes('startup parameter') ? THROUGH_POOLER : description
    default:
      return description
  }
}
