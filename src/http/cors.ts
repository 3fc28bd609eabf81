// Which pages of other origins may call the service from a browser: `--cors-origin` names them
// (https://fetch.spec.whatwg.org/#http-cors-protocol).

import { UsageError } from '../errors'

// The same for every path: a page is to read why a request was refused, and a refused preflight would hide that.
const PREFLIGHT = {
  'access-control-allow-methods': 'GET, HEAD, POST, PUT, PATCH, DELETE',
  'access-control-allow-headers':
    'Authorization, Content-Type, If-Match, If-None-Match, X-Request-Id',
  // Two hours: no browser keeps it longer but Firefox.
  'access-control-max-age': '7200',
}

// What a page may read beside the few headers that it always may.
const EXPOSED = [
  'Link',
  'ETag',
  'Retry-After',
  'RateLimit',
  'RateLimit-Policy',
  'X-Request-Id',
  'WWW-Authenticate',
  'Allow',
  'Accept-Patch',
].join(', ')

// Of another scheme, such as that of a browser's extension: nothing is known of its form.
const OTHER_ORIGIN = /^(?!https?:)[a-z][a-z0-9+.-]*:\/\/[^\s/?#@,*]+$/

const NOT_ALL =
  '--cors-origin does not take *, which would let every page that somebody opens call the store; name each origin'

// As browsers send it (RFC 6454, section 6.2): compared as a text, so it must be written so.
function parseOrigin(text: string): string {
  if (text === '*') throw new UsageError(NOT_ALL)
  const url = URL.parse(text)
  const isWeb = url?.protocol === 'https:' || url?.protocol === 'http:'
  const written = isWeb ? url.origin : OTHER_ORIGIN.test(text) ? text : null
  // A parser takes it for a name, which no browser sends.
  const origin = text.includes('*') ? null : written
  if (origin === text) return text
  const hint = origin === null ? '' : `; did you mean "${origin}"?`
  throw new UsageError(
    `--cors-origin takes origins, such as https://app.example.org,http://localhost:5173; not "${text}"${hint}`,
  )
}

export type Cors = ReturnType<typeof createCors>

/**
 * Allows the pages of some origins, given as `--cors-origin` has them. They send no cookies and no credentials of the
 * browser's, but a token that they were given. Throws a {@link UsageError} for a bad list.
 */
export function createCors(text: string) {
  const origins = new Set(text.split(',').map((it) => parseOrigin(it.trim())))

  const allowedOf = ({ headers }: Request): string | null => {
    const origin = headers.get('origin')
    return origin !== null && origins.has(origin) ? origin : null
  }

  return {
    /** Lets the page that sent a request read the answer, whatever it is. */
    expose(request: Request, { headers }: Response): void {
      // Also where there is no origin: a cache must not give that answer to a page.
      headers.append('vary', 'Origin')
      const origin = allowedOf(request)
      if (origin === null) return
      headers.set('access-control-allow-origin', origin)
      if (request.method !== 'OPTIONS') headers.set('access-control-expose-headers', EXPOSED)
    },
    /** The answer to a browser that asks whether it may send a request; null where this is no such question. */
    answerPreflight(request: Request): Response | null {
      const isPreflight =
        request.method === 'OPTIONS' &&
        request.headers.has('access-control-request-method') &&
        allowedOf(request) !== null
      return isPreflight ? new Response(null, { status: 204, headers: PREFLIGHT }) : null
    },
  }
}
