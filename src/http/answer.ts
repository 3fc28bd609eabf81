import { chooseCoding } from './accept-encoding'

/**
 * The headers of every answer: JSON must not be mistaken for anything else, and plants must not be cached
 * (RFC 9111, section 5.2.2.5). Built once: a plain object would be read again for each answer.
 */
export const jsonHeaders = new Headers({
  'content-type': 'application/json',
  'x-content-type-options': 'nosniff',
  'cache-control': 'no-store',
})

// RFC 9110, section 15.4.5: the same cache-control as a 200, and no content-type, since there is no body.
const unchanged = new Headers({ 'cache-control': 'no-store' })

const ok = { headers: jsonHeaders }
const varying = new Headers([...jsonHeaders, ['vary', 'accept-encoding']])
const zipped = new Headers([...varying, ['content-encoding', 'gzip']])

// Characters. A shorter text takes one packet anyway; a longer one could hold up the event loop for more than 5 ms, if it
// does not compress well (bench: compression).
const SHORTEST_ZIPPED = 1400
const LONGEST_ZIPPED = 96 * 1024

export type Bytes = Uint8Array<ArrayBuffer>

const fastGzip = (text: string): Bytes => Bun.gzipSync(text, { level: 1 })

/** 200 with a value as JSON. */
export const answerJson = (value: unknown): Response => new Response(JSON.stringify(value), ok)

/** 200 with a text, as JSON unless its type is set; compressed by `gzip` if that pays and the client accepts it. */
export function answerLong({ headers }: Request, text: string, gzip = fastGzip): Response {
  const isZipped =
    text.length >= SHORTEST_ZIPPED &&
    text.length <= LONGEST_ZIPPED &&
    chooseCoding(headers.get('accept-encoding'), ['gzip']) === 'gzip'
  return isZipped
    ? new Response(gzip(text), { headers: zipped })
    : new Response(text, { headers: varying })
}

/** 304: the client has the answer already, under this entity tag. */
export function notModified(etag: string): Response {
  const answer = new Response(null, { status: 304, headers: unchanged })
  answer.headers.set('etag', etag)
  return answer
}
