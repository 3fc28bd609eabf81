// Plants as JSON, with int64 ids exact in and out.

import { ApiError } from '../errors'
import { exactNumber, INT64_MAX, INT64_MIN, type Int64, parseInt64 } from './plant'

/** The most bytes of a request's body, whatever its limit. */
export const MAX_BODY_BYTES = 67_108_864

// It drops a byte order mark, which a parser may ignore (RFC 8259, section 8.1).
const UTF8 = new TextDecoder('utf-8', { fatal: true })
// A number with a fraction or an exponent: the plain parse may have rounded it to an integer.
const MAYBE_ROUNDED = /\d[.eE]/
const NUMBER = /^(-?)(\d+)(?:\.(\d+))?(?:[eE]([+-]?\d+))?$/
const TOO_DEEP = 'the body is nested too deeply'

// By hand: the pattern /0+$/ takes quadratic time on many zeros.
function trailingZeros(digits: string): number {
  let end = digits.length
  while (end > 0 && digits.charCodeAt(end - 1) === 48) end--
  return digits.length - end
}

// The exact integer that a JSON number denotes; null for a fraction or more than 19 digits.
function exactInteger(text: string): bigint | null {
  const [, sign, whole = '', fraction = '', exponent = '0'] = NUMBER.exec(text) ?? []
  const digits = whole + fraction
  const trailing = trailingZeros(digits)
  const significant = digits.slice(0, digits.length - trailing).replace(/^0+/, '')
  if (significant === '') return 0n
  const zeros = Number(exponent) - fraction.length + trailing
  if (zeros < 0 || significant.length + zeros > 19) return null
  return BigInt(`${sign}${significant}${'0'.repeat(zeros)}`)
}

function reviveId(key: string, value: unknown, context?: { source?: string }): unknown {
  if (key !== 'id' || typeof value !== 'number') return value
  if (context?.source !== undefined) return exactInteger(context.source) ?? value
  // A browser of before 2025: only an integer this small was surely not rounded.
  return Number.isInteger(value) && Math.abs(value) < 2 ** 50 ? BigInt(value) : value
}

// Makes the id of a plant a bigint; false where the plain parse may have rounded it.
function convertId(plant: { id?: unknown } | null): boolean {
  if (typeof plant?.id !== 'number') return true
  if (!Number.isSafeInteger(plant.id)) return false
  plant.id = BigInt(plant.id)
  return true
}

/** Reads JSON as `JSON.parse` does, but ids become exact bigints. Throws what that throws. */
export function parseJson(text: string): unknown {
  // The plain parse keeps every id up to 2^53; if one may be larger, or rounded, the exact parse reads the text again.
  if (MAYBE_ROUNDED.test(text)) return JSON.parse(text, reviveId)
  const body = JSON.parse(text)
  const areExact = convertId(body) && (!Array.isArray(body?.plants) || body.plants.every(convertId))
  return areExact ? body : JSON.parse(text, reviveId)
}

function reviveNumber(_: string, value: unknown, context?: { source?: string }): unknown {
  if (typeof value !== 'number' || context?.source === undefined) return value
  const exact = exactInteger(context.source)
  if (exact !== null) return exactNumber(exact) ?? exact
  // What a double rounds to an integer is none.
  return Number.isSafeInteger(value) ? context.source : value
}

const isExact = (value: unknown): boolean =>
  typeof value !== 'number' || Number.isSafeInteger(value) || !Number.isInteger(value)

/** Reads JSON as `JSON.parse` does, but integers beyond 2^53 become exact bigints, and texts where they have no exact value. */
export function parseExactly(text: string): unknown {
  // As in {@link parseJson}, the exact parse is for what the plain one may have rounded.
  if (MAYBE_ROUNDED.test(text)) return JSON.parse(text, reviveNumber)
  const value = JSON.parse(text)
  for (const key in value) if (!isExact(value[key])) return JSON.parse(text, reviveNumber)
  return value
}

/** The exact integer of a text that JSON would take for a number, in the range of int64; null: it is none. */
export function readInt64(text: string): Int64 | null {
  const value = parseInt64(text) ?? (NUMBER.test(text) ? exactInteger(text) : null)
  return value !== null && value >= INT64_MIN && value <= INT64_MAX ? value : null
}

/** Reads the JSON of a body, as {@link parseJson} does. 40001: it is not JSON in UTF-8. */
export function parseBody(bytes: Uint8Array): unknown {
  try {
    return parseJson(UTF8.decode(bytes))
  } catch (cause) {
    const message = cause instanceof RangeError ? TOO_DEEP : undefined
    throw new ApiError(40001, message, { cause })
  }
}

declare global {
  interface JSON {
    // From the proposal "JSON.parse source text access", which TypeScript does not know yet.
    rawJSON(text: string): object
  }
}

/** What has the id of a plant, for `JSON.stringify`, which rejects bigints. Raw JSON is slow, so only large ids are raw. */
export const toJson = <T extends { readonly id: Int64 }>(it: T) => ({
  ...it,
  id: exactNumber(it.id) ?? JSON.rawJSON(String(it.id)),
})
