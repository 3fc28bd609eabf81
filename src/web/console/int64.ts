// Parses ids. The schema of plants has the same bounds, but would load its validator with the page.

export const INT64_MIN = -(2n ** 63n)
export const INT64_MAX = 2n ** 63n - 1n

export const INT64_RULE = 'id: expected an integer from -9223372036854775808 to 9223372036854775807'

/** Parses an id; null if the text is not an integer. */
export const parseId = (text: string): bigint | null =>
  /^\s*-?\d{1,30}\s*$/.test(text) ? BigInt(text.trim()) : null
