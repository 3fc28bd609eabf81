// The answers to refused requests.

import { type ErrorName, RequestError } from '../../errors'
import type { Log } from '../../log'
import { listMismatches } from '../../plant/mismatch'
import { mismatchOf } from '../elysia'
import { jsonHeaders } from './answer'

const RETRY_AFTER_SECONDS = '1'
const CHALLENGE = 'Bearer realm="plantstore"'

type ErrorRow = {
  readonly number: number
  readonly headers?: Readonly<Record<string, string>>
}

const CLIENT_RETRIES = { 'retry-after': RETRY_AFTER_SECONDS }

/**
 * The number of each error: the HTTP status (RFC 9110, section 15) times 100 plus a count. A number is never reused and
 * never changes its meaning. `headers`: challenges (RFC 6750, section 3) and Retry-After (RFC 9110, section 10.2.3).
 */
export const ERRORS: Readonly<Record<ErrorName, ErrorRow>> = {
  'not JSON': { number: 40001 },
  invalid: { number: 40002 },
  'no credentials': { number: 40101, headers: { 'www-authenticate': CHALLENGE } },
  'invalid token': {
    number: 40102,
    headers: { 'www-authenticate': `${CHALLENGE}, error="invalid_token"` },
  },
  'read-only token': {
    number: 40301,
    headers: { 'www-authenticate': `${CHALLENGE}, error="insufficient_scope", scope="write"` },
  },
  'read-only service': { number: 40302 },
  'no such path': { number: 40401 },
  'no such plant': { number: 40402 },
  'no change log': { number: 40403 },
  'method not allowed': { number: 40501 },
  'stored already': { number: 40901 },
  taken: { number: 40902 },
  'cursor expired': { number: 41001 },
  'precondition failed': { number: 41201 },
  'too large': { number: 41301 },
  'unsupported type': { number: 41501 },
  'too many requests': { number: 42901, headers: CLIENT_RETRIES },
  unexpected: { number: 50001 },
  busy: { number: 50301, headers: CLIENT_RETRIES },
  'cannot read': { number: 50302 },
  'cannot write': { number: 50302 },
  'disk full': { number: 50701 },
}

/** The HTTP status of an error. */
export const statusOf = (error: ErrorName): number => Math.floor(ERRORS[error].number / 100)

/** The answer to a refused request. */
export function answerError({ error, message, headers }: RequestError): Response {
  const { number, headers: own } = ERRORS[error]
  const all = new Headers(jsonHeaders)
  for (const [name, value] of Object.entries({ ...own, ...headers })) all.set(name, value)
  const body = JSON.stringify({ error: number, message })
  return new Response(body, { status: statusOf(error), headers: all })
}

/** The error shown to a client for a thrown value. An unexpected one is logged, and the client gets no detail. */
export function toRequestError(error: unknown, log: Log): RequestError {
  if (error instanceof RequestError) return error
  const mismatch = mismatchOf(error)
  if (mismatch)
    return new RequestError('invalid', listMismatches(mismatch.validator, mismatch.value))
  log('error', 'unexpected', {
    detail: error instanceof Error ? (error.stack ?? error.message) : String(error),
  })
  return new RequestError('unexpected')
}
