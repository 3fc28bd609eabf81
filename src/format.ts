// The formats of a file of plants.

export const formats = ['ndjson', 'csv'] as const
/** One JSON object per line, or comma-separated values (RFC 4180). */
export type Format = (typeof formats)[number]

/** The format that a file's name indicates; null: none. */
export function formatOf(name: string): Format | null {
  if (/\.(ndjson|jsonl)$/i.test(name)) return 'ndjson'
  return /\.csv$/i.test(name) ? 'csv' : null
}
