// Reads the bodies of requests, and reads on what is left of refused ones.

import type { TSchema } from '@sinclair/typebox'
import { type TypeCheck, TypeCompiler } from '@sinclair/typebox/compiler'
import { PlantError } from '../errors'
import { explainMismatch } from '../mismatch'
import { parseBody } from '../plant-json'

// Spaces only behind what must be there: two runs of them in a row would take the square of the time.
const JSON_TYPE =
  /^application\/json[ \t]*(?:;[ \t]*(?:charset=(?:utf-8|"utf-8")[ \t]*(?:;[ \t]*)?)?)?$/i
const TOO_MANY = 'busy: too many large bodies at once; retry shortly'
const DIGITS = /^\d{1,15}$/

// A body of up to this length takes no more memory than its connection does (Bun keeps 16 KB of a head): not counted.
const SMALL_BODY_BYTES = 4 * 1024
// Longer bodies may hold so much together of what has come of them, or one body of the limit.
const READING_BYTES = 16 * 1024 * 1024

// A body of many keys takes ten times its length in memory until it is collected: of a long one only the fields are kept
// that a schema may ask for. Without that `memory-keys` of test/faults is killed at 128 MB.
const LONG_BODY_BYTES = 64 * 1024

// Of a refused body so many bytes are read on, for so long, and no longer than this without a byte.
const DISCARD_BYTES = 8 * 1024 * 1024
const DISCARD_MS = 5000
const DISCARD_QUIET_MS = 1000
// Bun holds up to a megabyte of each meanwhile: so much together, and what is beyond is answered at once.
const HELD_BYTES = 1024 * 1024
const DISCARDING_BYTES = 32 * HELD_BYTES

function pick(value: unknown, names: readonly string[]): unknown {
  if (typeof value !== 'object' || value === null || Array.isArray(value)) return value
  const own = names.filter((name) => Object.hasOwn(value, name))
  return Object.fromEntries(own.map((name) => [name, Reflect.get(value, name)]))
}

function keepFields(body: unknown): unknown {
  const kept = pick(body, ['id', 'name', 'tag', 'plants']) as { plants?: unknown } | null
  if (Array.isArray(kept?.plants)) {
    kept.plants = kept.plants.map((plant) => pick(plant, ['id', 'name', 'tag']))
  }
  return kept
}

const parse = (bytes: Uint8Array): unknown =>
  bytes.length > LONG_BODY_BYTES ? keepFields(parseBody(bytes)) : parseBody(bytes)

type Headers = Readonly<Record<string, string | undefined>>

function requireJson(headers: Headers): void {
  const type = headers['content-type'] ?? ''
  if (type !== 'application/json' && !JSON_TYPE.test(type)) throw new PlantError(41501)
  if (headers['content-encoding'] !== undefined) throw new PlantError(41501)
}

// The length that a request announces; null where it has none, or none that is a number.
const toLength = (text: string | null | undefined): number | null =>
  text && DIGITS.test(text) ? Number(text) : null

export type Bodies = ReturnType<typeof createBodies>

/** The bodies of an app's requests, of at most `limit` bytes each. */
export function createBodies(limit: number) {
  const budget = Math.max(READING_BYTES, limit)
  let reading = 0
  let discarding = 0

  // Bytes count as they come, so that those who announce much and send little keep nobody waiting.
  async function readCounted(request: Request): Promise<Uint8Array> {
    const reader = request.body?.getReader()
    if (!reader) return new Uint8Array()
    const parts: Uint8Array[] = []
    let size = 0
    try {
      for (;;) {
        const { done, value } = await reader.read()
        if (done) return Buffer.concat(parts)
        reading += value.byteLength
        size += value.byteLength
        if (size > limit) throw new PlantError(41301)
        if (reading > budget) throw new PlantError(50301, TOO_MANY)
        parts.push(value)
      }
    } finally {
      reading -= size
      reader.releaseLock()
    }
  }

  async function readBytes(request: Request, length: number | null): Promise<Uint8Array> {
    if (length !== null && length > limit) throw new PlantError(41301)
    try {
      return length !== null && length <= SMALL_BODY_BYTES
        ? await request.bytes()
        : await readCounted(request)
    } catch (cause) {
      if (cause instanceof PlantError) throw cause
      throw new PlantError(40001, 'the body was cut off', { cause })
    }
  }

  return {
    /**
     * What a route needs to have its body read as JSON that matches a schema, once its credentials are checked.
     * Refuses with 41501, 41301, 50301, 40001 and 40002.
     */
    of<Schema extends TSchema>(body: Schema) {
      let check: TypeCheck<Schema> | undefined
      return {
        body,
        // Elysia then neither reads nor checks it: it would read it before the credentials are checked.
        parse: 'none' as const,
        async transform(context: { request: Request; headers: Headers; body: unknown }) {
          const { request, headers } = context
          requireJson(headers)
          const value = parse(await readBytes(request, toLength(headers['content-length'])))
          check ??= TypeCompiler.Compile(body)
          if (!check.Check(value)) throw new PlantError(40002, explainMismatch(check, value))
          context.body = value
        },
      }
    },

    /**
     * Reads on what is left of a refused body, and keeps nothing of it. Bun closes the connection of a client that
     * says `Connection: close`, as proxies do, while the client still sends: it would see a reset, and no answer.
     */
    async discardRest(request: Request): Promise<void> {
      const { body } = request
      if (!body || body.locked) return
      const length = toLength(request.headers.get('content-length')) ?? HELD_BYTES
      let left = Math.max(DISCARD_BYTES, limit)
      const held = Math.min(length, HELD_BYTES)
      if (length > left || discarding + held > DISCARDING_BYTES) return
      discarding += held
      const reader = body.getReader()
      const end = performance.now() + DISCARD_MS
      const quiet = setTimeout(() => reader.cancel(), DISCARD_QUIET_MS)
      try {
        while (left > 0 && performance.now() < end) {
          const { done, value } = await reader.read()
          if (done) return
          left -= value.byteLength
          quiet.refresh()
        }
      } catch {
        // The client is gone: nobody waits for the answer.
      } finally {
        clearTimeout(quiet)
        discarding -= held
      }
    },
  }
}
