// The forms of a response: JSON, compressed if that pays, and 304.

import { choose } from './accept'

/**
 * The headers of every response: JSON must not be mistaken for anything else, and plants must not be cached (RFC 9111,
 * section 5.2.2.5).
 */
export const JSON_FIELDS = {
  'content-type': 'application/json',
  'x-content-type-options': 'nosniff',
  'cache-control': 'no-store',
}
/** The same, built once: a plain object would be converted for each response. */
export const JSON_HEADERS = new Headers(JSON_FIELDS)

// RFC 9110, section 15.4.5: the same cache-control as a 200, and no content-type, since there is no body.
const UNCHANGED_HEADERS = new Headers({ 'cache-control': 'no-store' })

const OK = { headers: JSON_HEADERS }
const VARYING_HEADERS = new Headers([...JSON_HEADERS, ['vary', 'accept-encoding']])
const ZIPPED_HEADERS = new Headers([...VARYING_HEADERS, ['content-encoding', 'gzip']])

// In characters. A shorter text fits into one packet anyway; compressing a longer one would block the event loop.
const SHORTEST_ZIPPED = 1400
const MAX_ZIPPED = 96 * 1024

export type Body = string | Uint8Array<ArrayBuffer>

const acceptsGzip = ({ headers }: Request): boolean =>
  choose(headers.get('accept-encoding'), ['gzip', 'identity']) === 'gzip'

/** 200 with a short value as JSON; a longer one goes through `respond.ts`. */
export const jsonResponse = (value: unknown): Response => new Response(JSON.stringify(value), OK)

/** A text in the coding that a client accepts, with the headers; compressed if that pays. */
export function encode(request: Request, text: string): [Body, Headers] {
  const isWorth = text.length >= SHORTEST_ZIPPED && text.length <= MAX_ZIPPED
  return isWorth && acceptsGzip(request)
    ? [Bun.gzipSync(text, { level: 1 }), ZIPPED_HEADERS]
    : [text, VARYING_HEADERS]
}

/** 200 with one of two blobs of JSON. Their bytes are shared: an unread response needs no memory. */
export const blobResponse = (request: Request, plain: Blob, gzip: Blob): Response =>
  acceptsGzip(request)
    ? new Response(gzip, { headers: ZIPPED_HEADERS })
    : new Response(plain, { headers: VARYING_HEADERS })

// A request may have 16 KB, and so may the headers of a response to Node.js.
const MAX_LINK = 15_000

/**
 * Adds the `Link` to the next page (RFC 8288, section 3), unless no request could follow it. Relative to the page itself,
 * so that it works behind a proxy with a path prefix.
 */
export function addNextLink({ headers }: Response, { url }: Request, next: string): void {
  const query = new URLSearchParams(/\?.*/s.exec(url)?.[0])
  query.set('after', next)
  const link = `<?${query}>; rel="next"`
  if (link.length <= MAX_LINK) headers.set('link', link)
}

/** 304: the client's copy with this entity tag is current. */
export function notModified(etag: string): Response {
  const response = new Response(null, { status: 304, headers: UNCHANGED_HEADERS })
  response.headers.set('etag', etag)
  return response
}
