// Plants as JSON, with exact int64 ids.

import { RequestError } from '../request-errors'
import { exactNumber, INT64_MAX, INT64_MIN, type Int64, parseInt64 } from './plant'

/** Maximum size of any request body in bytes. */
export const MAX_BODY_BYTES = 67_108_864

// Drops a byte order mark, which a parser may ignore (RFC 8259, section 8.1).
const UTF8 = new TextDecoder('utf-8', { fatal: true })
// A number with a fraction or an exponent, which the plain parse may have rounded to an integer.
const MAYBE_ROUNDED = /\d[.eE]/
// A number beyond 2^53, which has 16 digits.
const MAYBE_LARGE = /\d{16}/
const NUMBER = /^(-?)(\d+)(?:\.(\d+))?(?:[eE]([+-]?\d+))?$/

// The pattern /0+$/ would take quadratic time on many zeros.
function trailingZeros(digits: string): number {
  let end = digits.length
  while (end > 0 && digits.charCodeAt(end - 1) === 48) end--
  return digits.length - end
}

// The exact integer value of a JSON number; null for a fraction or more than 19 digits.
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
  // Browsers older than 2025 pass no source: only an integer this small was certainly not rounded.
  return Number.isInteger(value) && Math.abs(value) < 2 ** 50 ? BigInt(value) : value
}

// Converts the id of a plant to a bigint; false if the plain parse may have rounded it.
function convertId(plant: { id?: unknown } | null): boolean {
  if (typeof plant?.id !== 'number') return true
  if (!Number.isSafeInteger(plant.id)) return false
  plant.id = BigInt(plant.id)
  return true
}

/** Parses JSON like `JSON.parse`, with ids as exact bigints. Throws the same errors. */
export function parseJson(text: string): unknown {
  // The plain parse keeps ids up to 2^53; the text is reparsed exactly if one may be larger or rounded.
  if (MAYBE_ROUNDED.test(text)) return JSON.parse(text, reviveId)
  const body = JSON.parse(text)
  const areExact = convertId(body) && (!Array.isArray(body?.plants) || body.plants.every(convertId))
  return areExact ? body : JSON.parse(text, reviveId)
}

function reviveNumber(_: string, value: unknown, context?: { source?: string }): unknown {
  if (typeof value !== 'number' || context?.source === undefined) return value
  const exact = exactInteger(context.source)
  if (exact !== null) return exactNumber(exact) ?? exact
  // A fraction that only rounding makes whole is not an integer.
  return Number.isSafeInteger(value) ? context.source : value
}

/**
 * Parses JSON like `JSON.parse`, with integers beyond 2^53 as exact bigints, or as texts if they have no exact value.
 */
export function parseExactly(text: string): unknown {
  // Like {@link parseJson}, parses exactly only if the plain parse may round, at any depth.
  const mayRound = MAYBE_ROUNDED.test(text) || MAYBE_LARGE.test(text)
  return mayRound ? JSON.parse(text, reviveNumber) : JSON.parse(text)
}

/** The exact integer of a text in JSON's number syntax, in the range of int64; null if there is none. */
export function readInt64(text: string): Int64 | null {
  const value = parseInt64(text) ?? (NUMBER.test(text) ? exactInteger(text) : null)
  return value !== null && value >= INT64_MIN && value <= INT64_MAX ? value : null
}

/** Parses the JSON of a body like {@link parseJson}. `not JSON`: it is not JSON in UTF-8. */
export function parseBody(bytes: Uint8Array): unknown {
  try {
    return parseJson(UTF8.decode(bytes))
  } catch (cause) {
    const message = cause instanceof RangeError ? 'the body is nested too deeply' : undefined
    throw new RequestError('not JSON', message, { cause })
  }
}

declare global {
  interface JSON {
    // Part of the proposal "JSON.parse source text access", which TypeScript does not declare yet.
    rawJSON(text: string): object
  }
}

/**
 * A value with the id of a plant, for `JSON.stringify`, which rejects bigints. Raw JSON is slow, so only large ids are
 * raw.
 */
export const toJson = <T extends { readonly id: Int64 }>(value: T) => ({
  ...value,
  id: exactNumber(value.id) ?? JSON.rawJSON(String(value.id)),
})
