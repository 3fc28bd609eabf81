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

/** 200 with a body that is JSON already. */
export const answerText = (json: string): Response => new Response(json, ok)

/** 200 with a value as JSON. */
export const answerJson = (value: unknown): Response => new Response(JSON.stringify(value), ok)

/** 304: the client has the answer already, under this entity tag. */
export function notModified(etag: string): Response {
  const answer = new Response(null, { status: 304, headers: unchanged })
  answer.headers.set('etag', etag)
  return answer
}
