// Reads the bodies of requests as JSON.

import type { TSchema } from '@sinclair/typebox'
import { RequestError } from '../../errors'
import { parseBody } from '../../plant/json'
import { listMismatches } from '../../plant/mismatch'
import { createByteBudget } from '../byte-budget'
import { bodyOf, type SentHeaders, validatorOf } from '../elysia'

// RFC 9110, sections 5.6.6 and 8.3.1. Each run of spaces can match in one place only, to avoid quadratic time.
const MEDIA_TYPE =
  /^(application\/(?:merge-patch\+)?json)[ \t]*(?:;[ \t]*(?:(?:charset=(?:utf-8|"utf-8")|(?!charset=)[\w!#-'*+.^`|~-]+=(?:[\w!#-'*+.^`|~-]+|"(?:[^"\\]|\\.)*"))[ \t]*)?)*$/i
const ENCODED = 'send the body without Content-Encoding'
const TOO_MANY = 'busy: too many large bodies at once; retry shortly'
const TOO_MANY_CHUNKS = 'the body has too many chunks; send larger ones, or Content-Length'
const DIGITS = /^\d{1,15}$/

// A body of up to this length is not counted: there is one per connection, with 8 KB in total (`bun
// test/slow/faults/run.ts --only memory-unfinished`).
const SMALL_BODY_BYTES = 4 * 1024
// Limit of all longer bodies being read; one of maximum length always fits.
const READING_BYTES = 16 * 1024 * 1024
// Maximum number of chunks of a body, plus one per KiB of the limit. Bun hides their extensions, of up to 16 KB.
const SPARE_CHUNKS = 512
const CHUNK_BYTES = 1024
// A body of many keys needs ten times its length until it is collected. Only the known fields of a longer one are kept:
// otherwise `memory-keys` of test/slow/faults is killed at 128 MB.
const LONG_BODY_BYTES = 64 * 1024

/** A value with only the fields of a schema; if it allows no others, with the first of these, for the refusal. */
function keepFields(value: unknown, schema: TSchema): unknown {
  const { properties = {}, items, additionalProperties } = schema
  if (typeof value !== 'object' || value === null) return value
  if (Array.isArray(value)) return items ? value.map((item) => keepFields(item, items)) : value
  const known = Object.keys(properties).filter((name) => Object.hasOwn(value, name))
  const kept = known.map((name) => [name, keepFields(Reflect.get(value, name), properties[name])])
  if (additionalProperties === false) {
    const other = Object.keys(value).find((name) => !Object.hasOwn(properties, name))
    if (other !== undefined) kept.push([other, null])
  }
  return Object.fromEntries(kept)
}

const parse = (bytes: Uint8Array, schema: TSchema): unknown =>
  bytes.length > LONG_BODY_BYTES ? keepFields(parseBody(bytes), schema) : parseBody(bytes)

/** Frees bytes at once: for many simultaneous bodies, the collector would be late (`memory-deletes`). */
const free = ({ buffer }: Uint8Array<ArrayBuffer>): void => void buffer.transfer(0)

/** The media types of a body; `rule` and `accepts` name them to a client that sends another. */
export type Media = {
  readonly types: readonly string[]
  readonly rule?: string
  readonly accepts?: Readonly<Record<string, string>>
}

const PLAIN_JSON: Media = { types: ['application/json'] }

const MERGE_PATCH_TYPES = ['application/merge-patch+json', 'application/json']

/** Bodies must not be encoded (RFC 9110, section 12.5.3). */
export const ACCEPT_ENCODING = { 'accept-encoding': 'identity' }

/** A patch (RFC 7396), which may also be sent as plain JSON. */
export const MERGE_PATCH: Media = {
  types: MERGE_PATCH_TYPES,
  rule: 'send the body as "Content-Type: application/merge-patch+json" or "application/json", in UTF-8, without Content-Encoding',
  // RFC 5789, section 3.1.
  accepts: { 'accept-patch': MERGE_PATCH_TYPES.join(', ') },
}

function requireType(headers: SentHeaders, { types, rule, accepts = {} }: Media): void {
  const header = headers['content-type'] ?? ''
  const type = header === 'application/json' ? header : MEDIA_TYPE.exec(header)?.[1]?.toLowerCase()
  if (!types.includes(type ?? ''))
    throw new RequestError('unsupported type', rule, { headers: accepts })
  // Only here: the header would blame the encoding.
  if (headers['content-encoding'] !== undefined) {
    throw new RequestError('unsupported type', ENCODED, { headers: ACCEPT_ENCODING })
  }
}

type Context = { readonly request: Request; readonly headers: SentHeaders }

/** The options of routes for their bodies. */
export type Bodies = {
  /**
   * For routes without a body. The body is still read, and discarded: Bun buffers an unread one until the answer,
   * except with GET and HEAD.
   */
  readonly none: { transform(context: Context): Promise<void> }
  /**
   * For routes with a JSON body that matches a schema, read after the credentials are checked. Refuses with
   * `unsupported type`, `too large`, `busy`, `not JSON` and `invalid`.
   */
  json<Schema extends TSchema>(body: Schema, media?: Media): ReturnType<typeof bodyOf<Schema>>
}

/** Reads the bodies of an app's requests, of at most `limit` bytes each. */
export function createBodies(limit: number): Bodies {
  const budget = createByteBudget(Math.max(READING_BYTES, limit))

  const maxChunks = SPARE_CHUNKS + Math.ceil(limit / CHUNK_BYTES)

  // Bytes count as they arrive: a client that announces much and sends little does not block others.
  async function readCounted(request: Request, chunksLeft: number): Promise<Uint8Array> {
    if (budget.bytesHeld() >= budget.limit) throw new RequestError('busy', TOO_MANY)
    const reader = request.body?.getReader()
    if (!reader) return new Uint8Array()
    const buffer = new Bun.ArrayBufferSink()
    buffer.start({ asUint8Array: true })
    const holding = budget.hold()
    let length = 0
    let isRead = false
    try {
      for (;;) {
        const { done, value } = await reader.read()
        isRead = done
        if (done) return buffer.end() as Uint8Array
        length += value.byteLength
        if (length > limit) throw new RequestError('too large')
        if (chunksLeft === 0) throw new RequestError('too large', TOO_MANY_CHUNKS)
        chunksLeft -= 1
        holding.add(value.byteLength)
        buffer.write(value)
        free(value)
        if (budget.bytesHeld() > budget.limit) throw new RequestError('busy', TOO_MANY)
      }
    } finally {
      holding.release()
      if (!isRead) free(buffer.end() as Uint8Array<ArrayBuffer>)
      reader.releaseLock()
    }
  }

  async function readBytes(request: Request, headers: SentHeaders): Promise<Uint8Array> {
    const lengthText = headers['content-length'] ?? ''
    const length = DIGITS.test(lengthText) ? Number(lengthText) : null
    if (length !== null && length > limit) throw new RequestError('too large')
    const isSmall = length !== null && length <= SMALL_BODY_BYTES
    try {
      if (isSmall) return await request.bytes()
      return await readCounted(request, length === null ? maxChunks : Number.POSITIVE_INFINITY)
    } catch (cause) {
      if (cause instanceof RequestError) throw cause
      throw new RequestError('not JSON', 'the body was cut off', { cause })
    }
  }

  return {
    none: {
      transform: async ({ request, headers }) => {
        if (request.body) await readBytes(request, headers)
      },
    },
    json(body, media = PLAIN_JSON) {
      const validator = validatorOf(body)

      async function readBody(request: Request, headers: SentHeaders): Promise<unknown> {
        requireType(headers, media)
        const value = parse(await readBytes(request, headers), body)
        const schema = validator()
        if (!schema.Check(value)) throw new RequestError('invalid', listMismatches(schema, value))
        return value
      }

      return bodyOf(body, readBody)
    },
  }
}
