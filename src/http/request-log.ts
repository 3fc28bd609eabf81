// The request log: who did what, one line for each request.

import type { Log } from '../log'

const SANE_ID = /^[A-Za-z0-9._-]{1,128}$/

type Entry = { readonly id: string; readonly client: string | null; token: string | null }

export type RequestLog = ReturnType<typeof createRequestLog>

// Not by `new URL`, which throws where the client's Host is invalid.
const pathOf = (url: string): string =>
  url.replace(/^[a-z]+:\/\/[^/?#]*/i, '').replace(/[?#].*$/s, '')

/** `clientOf`: the address of the client that sent a request; null if it has none. */
export function createRequestLog(log: Log, clientOf: (request: Request) => string | null) {
  const entries = new WeakMap<Request, Entry>()

  /** Notes a request's id and its client's address, while the connection is open. */
  function begin(request: Request): Entry {
    const sent = request.headers.get('x-request-id') ?? ''
    const id = SANE_ID.test(sent) ? sent : crypto.randomUUID()
    const entry = { id, client: clientOf(request), token: null }
    entries.set(request, entry)
    return entry
  }

  return {
    begin,
    /** Notes the name of a request's token, valid or not. */
    identify(request: Request, token: string): void {
      const entry = entries.get(request)
      if (entry) entry.token = token
    },
    /** Logs a request, and gives its answer the id. */
    end(request: Request, response: Response, milliseconds: number): void {
      const { id, client, token } = entries.get(request) ?? begin(request)
      response.headers.set('x-request-id', id)
      log('info', 'request', {
        id,
        ...(client === null ? {} : { client }),
        ...(token === null ? {} : { token }),
        method: request.method,
        path: pathOf(request.url),
        status: response.status,
        ms: Math.round(milliseconds * 1000) / 1000,
      })
    },
  }
}
