// The request log: who did what, one line for each request.

import type { Log } from '../../log'
import type { Token } from '../../token/token'

const SANE_ID = /^[A-Za-z0-9._-]{1,128}$/

/** A request that will be logged: its id, and its client's address. */
export type RequestLogEntry = { readonly id: string; readonly client: string | null }

/** The id that a client or a proxy gave a request; null if there is none, or it is malformed. */
export function sentId({ headers }: Request): string | null {
  const sent = headers.get('x-request-id') ?? ''
  return SANE_ID.test(sent) ? sent : null
}

// Not by `new URL`, which throws where the client's Host is invalid.
const pathOf = (url: string): string =>
  url.replace(/^[a-z]+:\/\/[^/?#]*/i, '').replace(/[?#].*$/s, '')

/** `clientOf`: the address of the client that sent a request; null if it has none. */
export function createRequestLog(log: Log, clientOf: (request: Request) => string | null) {
  return {
    /** Notes a request's id and its client's address, while the connection is open. */
    begin(request: Request): RequestLogEntry {
      return { id: sentId(request) ?? crypto.randomUUID(), client: clientOf(request) }
    },
    /** Logs a request, and gives its answer the id. `token`: the one that it was sent with. */
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
