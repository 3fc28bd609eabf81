import { PlantError } from '../errors'
import { parseBody } from '../plant-json'

// Spaces only behind what must be there: two runs of them in a row would take the square of the time.
const JSON_TYPE =
  /^application\/json[ \t]*(?:;[ \t]*(?:charset=(?:utf-8|"utf-8")[ \t]*(?:;[ \t]*)?)?)?$/i
const DIGITS = /^\d{1,15}$/
// Bodies that are being read may hold so many bytes together, or one body of the limit.
const READING_BYTES = 16 * 1024 * 1024

// A body of many keys takes ten times its length in memory until it is collected, which the engine of JavaScript
// does late. So of a long body only the fields that a schema may ask for are kept, and once long bodies of this
// length together were read, the engine is told to collect.
const LONG_BODY_BYTES = 64 * 1024
const COLLECT_BYTES = 1024 * 1024

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

/** What a body is read into, of what Elysia knows of a request. */
export type BodyContext = { readonly request: Request; body: unknown }

/**
 * Reads the bodies of requests as JSON: of at most `limit` bytes each, and not too many at once.
 * Refuses with 41501, 41301, 50301 and 40001.
 */
export function createBodyReader(limit: number) {
  const budget = Math.max(READING_BYTES, limit)
  let reading = 0
  let uncollected = 0

  async function readParts(request: Request): Promise<Uint8Array> {
    const parts: Uint8Array[] = []
    let size = 0
    try {
      for await (const part of request.body ?? []) {
        reading += part.byteLength
        size += part.byteLength
        if (size > limit) throw new PlantError(41301)
        if (reading > budget) throw new PlantError(50301)
        parts.push(part)
      }
    } finally {
      reading -= size
    }
    return Buffer.concat(parts)
  }

  function parseLongBody(bytes: Uint8Array): unknown {
    const body = keepFields(parseBody(bytes))
    uncollected += bytes.length
    if (uncollected > COLLECT_BYTES) {
      uncollected = 0
      Bun.gc(true)
    }
    return body
  }

  return async function readBody(context: BodyContext): Promise<void> {
    const { request } = context
    const { headers } = request
    const type = headers.get('content-type')
    if (type !== 'application/json' && !JSON_TYPE.test(type ?? '')) throw new PlantError(41501)
    if (headers.has('content-encoding')) throw new PlantError(41501)
    const length = headers.get('content-length')
    const size = length !== null && DIGITS.test(length) ? Number(length) : null
    if (size !== null && size > limit) throw new PlantError(41301)

    // A long body is counted as it arrives, which takes longer, so that a few who announce much and send nothing keep
    // nobody waiting.
    const isShort = size !== null && size <= LONG_BODY_BYTES
    const reserved = isShort ? size : 0
    if (reading + reserved > budget) throw new PlantError(50301)
    reading += reserved
    let bytes: Uint8Array
    try {
      bytes = isShort ? await request.bytes() : await readParts(request)
    } catch (cause) {
      if (cause instanceof PlantError) throw cause
      throw new PlantError(40001, 'the body ended before it was whole', { cause })
    } finally {
      reading -= reserved
    }
    context.body = bytes.length > LONG_BODY_BYTES ? parseLongBody(bytes) : parseBody(bytes)
  }
}
