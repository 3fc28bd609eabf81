// The request log: one line per request, with its client and token.

import type { Log } from '../log'
import type { Exchange } from './exchange'

// Not `new URL`, which throws for an invalid Host.
const pathOf = (url: string): string =>
  url.replace(/^[a-z]+:\/\/[^/?#]*/i, '').replace(/[?#].*$/s, '')

/** Logs a request, if requests are logged, and adds its id to the response. */
export function logRequest(
  log: Log,
  { request, record, token }: Exchange,
  response: Response,
  milliseconds: number,
): void {
  if (!record) return
  const { id, client } = record
  response.headers.set('x-request-id', id)
  log('info', 'request', {
    id,
    ...(client === null ? {} : { client }),
    ...(token === null ? {} : { token: token.name }),
    method: request.method,
    path: pathOf(request.url),
    status: response.status,
    ms: Math.round(milliseconds * 1000) / 1000,
  })
}
