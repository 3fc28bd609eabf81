// The formats of a file of plants.

export const formats = ['ndjson', 'csv'] as const
/** One JSON object per line, or comma-separated values (RFC 4180). */
export type Format = (typeof formats)[number]

/** The format that a file's name indicates; null: none. */
export function formatOf(name: string): Format | null {
  if (/\.(ndjson|jsonl)$/i.test(name)) return 'ndjson'
  return /\.csv$/i.test(name) ? 'csv' : null
}

/** The format of a file to read by its name, which may also be that of CSV with tabs; null: none. */
export const formatToRead = (name: string): Format | null =>
  /\.tsv$/i.test(name) ? 'csv' : formatOf(name)
