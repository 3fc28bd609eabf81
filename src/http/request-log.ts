// The request log: one line per request, with its client and token.

import type { AppDeps } from './deps'
import type { SentHeaders } from './elysia'
import { type Exchange, type LogRecord, sentId } from './exchange'

// Not `new URL`, which throws for an invalid Host.
const pathOf = (url: string): string =>
  url.replace(/^[a-z]+:\/\/[^/?#]*/i, '').replace(/[?#].*$/s, '')

export function createRequestLog({ log, clientOf }: AppDeps) {
  return {
    /** Notes a request's id and its client's address, while the connection is open. */
    begin(request: Request, headers: SentHeaders): LogRecord {
      return { id: sentId(headers) ?? crypto.randomUUID(), client: clientOf(request) }
    },
    /** Logs a request, and adds the id to its answer. */
    end({ request, record, token }: Exchange, response: Response, milliseconds: number): void {
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
    },
  }
}
