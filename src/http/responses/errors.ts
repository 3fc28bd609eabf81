// The responses to refused requests.

import type { Log } from '../../log'
import { listMismatches } from '../../plant/mismatch'
import { ERRORS, type ErrorName, RequestError } from '../../request-errors'
import { mismatchOf } from '../elysia'
import { JSON_FIELDS } from './forms'

const CHALLENGE = 'Bearer realm="plantstore"'

const RETRY_AFTER = { 'retry-after': '1' }

/**
 * Headers of every response with an error: challenges (RFC 6750, section 3) and Retry-After (RFC 9110, section 10.2.3).
 */
export const ERROR_HEADERS: Readonly<Partial<Record<ErrorName, Readonly<Record<string, string>>>>> =
  {
    'no credentials': { 'www-authenticate': CHALLENGE },
    'invalid token': { 'www-authenticate': `${CHALLENGE}, error="invalid_token"` },
    'read-only token': {
      'www-authenticate': `${CHALLENGE}, error="insufficient_scope", scope="write"`,
    },
    'too many requests': RETRY_AFTER,
    busy: RETRY_AFTER,
  }

/** The HTTP status of an error. */
export const statusOf = (error: ErrorName): number => Math.floor(ERRORS[error].number / 100)

/** The response to a refused request. */
export function errorResponse({ error, message, headers }: RequestError): Response {
  const body = JSON.stringify({ error: ERRORS[error].number, message })
  return new Response(body, {
    status: statusOf(error),
    headers: { ...JSON_FIELDS, ...ERROR_HEADERS[error], ...headers },
  })
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
