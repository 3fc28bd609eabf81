// The answers to refused requests.

import { ApiError, type ErrorNumber } from '../../errors'
import type { Log } from '../../log'
import { listMismatches } from '../../plant/mismatch'
import { mismatchOf } from '../elysia'
import { jsonHeaders } from './answer'

const RETRY_AFTER_SECONDS = '1'
const CHALLENGE = 'Bearer realm="plantstore"'

/**
 * The extra headers of an error: challenges (RFC 6750, section 3) and Retry-After (RFC 9110, section
 * 10.2.3).
 */
export const headersOf: Partial<Record<ErrorNumber, Record<string, string>>> = {
  40101: { 'www-authenticate': CHALLENGE },
  40102: { 'www-authenticate': `${CHALLENGE}, error="invalid_token"` },
  40301: { 'www-authenticate': `${CHALLENGE}, error="insufficient_scope", scope="write"` },
  42901: { 'retry-after': RETRY_AFTER_SECONDS },
  50301: { 'retry-after': RETRY_AFTER_SECONDS },
}

/** The answer to a refused request. */
export function answerError({ error, message, status, headers }: ApiError): Response {
  const all = new Headers(jsonHeaders)
  const own = { ...headersOf[error], ...headers }
  for (const [name, value] of Object.entries(own)) all.set(name, value)
  return new Response(JSON.stringify({ error, message }), { status, headers: all })
}

/** The error shown to a client for a thrown value. An unexpected one is logged, and the client gets no detail. */
export function toApiError(error: unknown, log: Log): ApiError {
  if (error instanceof ApiError) return error
  const mismatch = mismatchOf(error)
  if (mismatch) return new ApiError(40002, listMismatches(mismatch.validator, mismatch.value))
  log('error', 'unexpected', {
    detail: error instanceof Error ? (error.stack ?? error.message) : String(error),
  })
  return new ApiError(50001)
}
