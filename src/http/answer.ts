import { exactNumber, type NewPlant } from '../plant'

/**
 * The headers of every answer: JSON is never to be taken for anything else, and plants are not for caches
 * (RFC 9111, section 5.2.2.5). Built once: a plain object would be read again for each answer.
 */
export const jsonHeaders = new Headers({
  'content-type': 'application/json',
  'x-content-type-options': 'nosniff',
  'cache-control': 'no-store',
})

const ok = { headers: jsonHeaders }

/** 200 with a body that is JSON already. */
export const answerText = (json: string): Response => new Response(json, ok)

/** 200 with a value as JSON. */
export const answerJson = (value: unknown): Response => new Response(JSON.stringify(value), ok)

declare global {
  interface JSON {
    // Of the proposal "JSON.parse source text access", which TypeScript does not know yet.
    rawJSON(text: string): object
  }
}

/** A plant for `JSON.stringify`, which takes no bigint and is slower with raw JSON in what it writes. */
export const toJson = ({ id, name, tag }: NewPlant) => ({
  id: exactNumber(id) ?? JSON.rawJSON(String(id)),
  name,
  tag,
})
