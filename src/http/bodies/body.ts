// Reads the bodies of requests as JSON.

import type { TSchema } from '@sinclair/typebox'
import { parseBody } from '../../plant/json'
import { listMismatches } from '../../plant/mismatch'
import { PlantPatch } from '../../plant/plant'
import { RequestError } from '../../request-errors'
import { type ByteBudget, SHORT_BYTES } from '../byte-budget'
import { bodyOf, type SentHeaders, validatorOf } from '../elysia'
import type { Sent } from './refused-body'

// RFC 9110, sections 5.6.6 and 8.3.1. Each run of spaces can match in one place only, to avoid quadratic time.
const MEDIA_TYPE =
  /^(application\/(?:merge-patch\+)?json)[ \t]*(?:;[ \t]*(?:(?:charset=(?:utf-8|"utf-8")|(?!charset=)[\w!#-'*+.^\x60|~-]+=(?:[\w!#-'*+.^\x60|~-]+|"(?:[^"\\]|\\.)*"))[ \t]*)?)*$/i
const DIGITS = /^\d{1,15}$/
// The limit in bytes also limits the chunks, to one for so many: a million of one byte would block the event loop for
// two seconds.
const CHUNK_BYTES = 256

/** Frees bytes at once: for many simultaneous bodies, the collector would be late (`memory-refused`). */
const free = ({ buffer }: Uint8Array<ArrayBuffer>): void => void buffer.transfer(0)

export const JSON_TYPE = 'application/json'

/** The media types of a body with a schema: a patch of one plant (RFC 7396) may also be sent as plain JSON. */
export const mediaTypesOf = (schema: unknown): readonly string[] =>
  schema === PlantPatch ? ['application/merge-patch+json', JSON_TYPE] : [JSON_TYPE]

function requireType(sent: SentHeaders, types: readonly string[]): void {
  const { 'content-type': header = '', 'content-encoding': encoding } = sent
  const type = header === JSON_TYPE ? header : MEDIA_TYPE.exec(header)?.[1]?.toLowerCase()
  const isRightType = types.includes(type ?? '')
  if (isRightType && encoding === undefined) return
  const names = types.map((name) => `"Content-Type: ${name}"`).join(' or ')
  const message = `send the body as ${names}, in UTF-8, without Content-Encoding`
  // RFC 5789, section 3.1.
  const acceptPatch = types.length > 1 ? { 'accept-patch': types.join(', ') } : {}
  // RFC 9110, section 12.5.3; not beside a wrong type, as it would blame the encoding.
  const headers = isRightType ? { 'accept-encoding': 'identity' } : acceptPatch
  throw new RequestError('unsupported type', message, { headers })
}

/** Reads the bodies of an app's requests, of at most `limit` bytes each. */
export function createBodies(limit: number, budget: ByteBudget) {
  // Bytes count as they arrive: a client that announces much and sends little does not block others.
  async function readCounted(request: Request, chunkBytes: number): Promise<Uint8Array> {
    using holding = budget.hold(0)
    const buffer = new Bun.ArrayBufferSink()
    buffer.start({ asUint8Array: true })
    let length = 0
    let chunksLength = 0
    let isRead = false
    try {
      // A refused body is read on, and discarded.
      for await (const chunk of request.body?.values({ preventCancel: true }) ?? []) {
        length += chunk.byteLength
        chunksLength += chunkBytes
        if (Math.max(length, chunksLength) > limit) throw new RequestError('too large')
        buffer.write(chunk)
        holding.add(chunk.byteLength)
        free(chunk)
      }
      isRead = true
      return buffer.end() as Uint8Array
    } finally {
      if (!isRead) free(buffer.end() as Uint8Array<ArrayBuffer>)
    }
  }

  async function readBytes({ request, headers }: Sent): Promise<Uint8Array> {
    const lengthText = headers['content-length'] ?? ''
    const length = DIGITS.test(lengthText) ? Number(lengthText) : null
    if (length !== null && length > limit) throw new RequestError('too large')
    try {
      if (length !== null && length <= SHORT_BYTES) return await request.bytes()
      return await readCounted(request, length === null ? CHUNK_BYTES : 0)
    } catch (cause) {
      if (cause instanceof RequestError) throw cause
      throw new RequestError('not JSON', 'the body was cut off', { cause })
    }
  }

  return {
    /**
     * For routes without a body. The body is still read, and discarded: Bun buffers an unread one until the response,
     * except with GET and HEAD.
     */
    none: {
      async transform({ request, headers }: Sent): Promise<void> {
        if (request.body) await readBytes({ request, headers })
      },
    },
    /**
     * For routes with a JSON body that matches a schema, read after the credentials are checked. Refuses with
     * `unsupported type`, `too large`, `busy`, `not JSON` and `invalid`.
     */
    json<Schema extends TSchema>(schema: Schema) {
      const validator = validatorOf(schema)
      const types = mediaTypesOf(schema)
      return bodyOf(schema, async (request, headers) => {
        requireType(headers, types)
        const value = parseBody(await readBytes({ request, headers }))
        const checked = validator()
        if (!checked.Check(value)) throw new RequestError('invalid', listMismatches(checked, value))
        return checked.Clean?.(value)
      })
    },
  }
}
