// Parses ids. The schema of plants has the same bounds, but would load its validator with the page.

export const INT64_MIN = -(2n ** 63n)
export const INT64_MAX = 2n ** 63n - 1n

export const INT64_RULE = 'id: expected an integer from -9223372036854775808 to 9223372036854775807'

/** The id after the largest of some, from 1 on; null if there is none. */
export function idAfter(ids: readonly bigint[]): bigint | null {
  let largest = 0n
  for (const id of ids) if (id > largest) largest = id
  return largest < INT64_MAX ? largest + 1n : null
}

/** Parses an id; null if the text is not an integer. */
export const parseId = (text: string): bigint | null =>
  /^\s*-?\d{1,30}\s*$/.test(text) ? BigInt(text.trim()) : null
