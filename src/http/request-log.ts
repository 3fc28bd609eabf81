// The request log: one line per request, with its client and token.

import type { Log } from '../log'
import type { Token } from '../token/token'

const SANE_ID = /^[A-Za-z0-9._-]{1,128}$/

/** A logged request: its id, and its client's address. */
export type RequestLogEntry = { readonly id: string; readonly client: string | null }

/** The request's id as sent by a client or a proxy; null if there is none, or it is malformed. */
export function sentId({ headers }: Request): string | null {
  const id = headers.get('x-request-id') ?? ''
  return SANE_ID.test(id) ? id : null
}

// Not `new URL`, which throws for an invalid Host.
const pathOf = (url: string): string =>
  url.replace(/^[a-z]+:\/\/[^/?#]*/i, '').replace(/[?#].*$/s, '')

/** `clientOf`: the address of a request's client; null if there is none. */
export function createRequestLog(log: Log, clientOf: (request: Request) => string | null) {
  return {
    /** Notes a request's id and its client's address, while the connection is open. */
    begin(request: Request): RequestLogEntry {
      return { id: sentId(request) ?? crypto.randomUUID(), client: clientOf(request) }
    },
    /** Logs a request, and adds the id to its answer. `token`: the request's token. */
    end(
      { id, client }: RequestLogEntry,
      token: Token | null,
      request: Request,
      response: Response,
      milliseconds: number,
    ): void {
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
