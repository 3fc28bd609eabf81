// Allows pages of the origins in `--cors-origin` to call the service from a browser
// (https://fetch.spec.whatwg.org/#http-cors-protocol).

import { UsageError } from '../errors'

// The same for every path: a refused preflight would hide the reason of a refusal from the page.
const PREFLIGHT = {
  'access-control-allow-methods': 'GET, HEAD, POST, PUT, PATCH, DELETE',
  'access-control-allow-headers':
    'Authorization, Content-Type, If-Match, If-None-Match, Last-Event-ID, Plantstore-Cursor, X-Request-Id',
  // Two hours: only Firefox caches it longer.
  'access-control-max-age': '7200',
}

// The headers that a page may read, besides those that are always readable.
const EXPOSED = [
  'Link',
  'ETag',
  'Plantstore-Cursor',
  'Retry-After',
  'X-Request-Id',
  'WWW-Authenticate',
  'Allow',
  'Accept-Patch',
].join(', ')

const ORIGIN = /^[a-z][a-z0-9+.-]*:\/\/[^\s/?#@,*]+$/

// Exactly as browsers send it (RFC 6454, section 6.2). The form of an extension's origin is unknown.
const isOrigin = (text: string): boolean =>
  ORIGIN.test(text) && [text, 'null'].includes(String(URL.parse(text)?.origin))

export type Cors = ReturnType<typeof createCors>

/**
 * Allows the pages of the origins in `--cors-origin`. They send no cookies and no credentials of the browser, only
 * their token. Throws a {@link UsageError} for a bad list.
 */
export function createCors(text: string) {
  const origins = text.split(',').map((origin) => origin.trim())
  const other = origins.find((origin) => !isOrigin(origin))
  if (other !== undefined)
    throw new UsageError(
      `--cors-origin takes origins, such as https://app.example.org,http://localhost:5173; not "${other}"`,
    )

  const allowedOf = ({ headers }: Request): string | null => {
    const origin = headers.get('origin')
    return origin !== null && origins.includes(origin) ? origin : null
  }

  return {
    /** Allows the requesting page to read the response, even a refusal. */
    expose(request: Request, { headers }: Response): void {
      // Even without an origin: a cache must not serve that response to a page.
      headers.append('vary', 'Origin')
      const origin = allowedOf(request)
      if (origin === null) return
      headers.set('access-control-allow-origin', origin)
      if (request.method !== 'OPTIONS') headers.set('access-control-expose-headers', EXPOSED)
    },
    /** The response to a browser's preflight; null for any other request. */
    preflightResponse(request: Request): Response | null {
      const isPreflight =
        request.method === 'OPTIONS' &&
        request.headers.has('access-control-request-method') &&
        allowedOf(request) !== null
      return isPreflight ? new Response(null, { status: 204, headers: PREFLIGHT }) : null
    },
  }
}
