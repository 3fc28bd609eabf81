// The expected result of a create with any body, computed without the daemon's code.
import { isUtf8 } from 'node:buffer'

/** The plant that a body means. */
export type OraclePlant = { readonly id: bigint; readonly name: string; readonly tag?: string }

/** The expected answer of a create; null if the body is nested too deep to tell. */
type Verdict = OraclePlant | 40001 | 40002 | null

const MAX = 2n ** 63n - 1n
const MIN = -(2n ** 63n)

/** A number as written. */
class NumberText {
  constructor(readonly text: string) {}
}

/** The int64 that a JSON number means, in exact arithmetic; null if it is not one. */
function int64Of(text: string): bigint | null {
  const [mantissa = '', exponent = '0'] = text.toLowerCase().split('e')
  const [whole = '', fraction = ''] = mantissa.split('.')
  const digits = BigInt(whole + fraction)
  if (digits === 0n) return 0n
  // No body is long enough to bring such a number back into the range.
  if (exponent.replace(/^[+-]?0*/, '').length > 7) return null
  const places = Number(exponent) - fraction.length
  if (places > 19) return null
  if (places < 0 && -places > mantissa.length) return null
  const scale = 10n ** BigInt(Math.abs(places))
  if (places < 0 && digits % scale !== 0n) return null
  const value = places < 0 ? digits / scale : digits * scale
  return value >= MIN && value <= MAX ? value : null
}

const isStorable = (value: unknown): value is string =>
  typeof value === 'string' && !/\p{Surrogate}/u.test(value) && !value.includes('\0')

const own = (value: object, key: string): unknown =>
  Object.hasOwn(value, key) ? (value as Record<string, unknown>)[key] : undefined

const keepNumber = (_: string, value: unknown, context?: { source?: string }): unknown =>
  typeof value === 'number' ? new NumberText(context?.source ?? '') : value

/** The expected answer of a create with this body. */
export function judge(bytes: Uint8Array): Verdict {
  if (!isUtf8(bytes)) return 40001
  let value: unknown
  try {
    value = JSON.parse(
      Buffer.from(bytes)
        .toString('utf8')
        .replace(/^\ufeff/, ''),
      keepNumber,
    )
  } catch (error) {
    return error instanceof RangeError ? null : 40001
  }
  if (typeof value !== 'object' || value === null || Array.isArray(value)) return 40002
  const [id, name, tag] = [own(value, 'id'), own(value, 'name'), own(value, 'tag')]
  const number = id instanceof NumberText ? int64Of(id.text) : null
  if (number === null || !isStorable(name)) return 40002
  if (!Object.hasOwn(value, 'tag')) return { id: number, name }
  return isStorable(tag) ? { id: number, name, tag } : 40002
}
