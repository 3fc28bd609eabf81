// Files of plants: their formats, and what is on a line.

import type { NewPlant, Text } from '../plant/plant'

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

/** The value of a line, or what is wrong with it. `line`: its number, counted from 1; of a record of CSV, the last. */
export type RawEntry = { readonly line: number } & (
  | { readonly value: unknown }
  | { readonly problem: string }
)

/** A plant in a file, or what is wrong with its line. */
export type Entry = { readonly line: number } & (
  | { readonly plant: NewPlant }
  | { readonly problem: string }
)

/** A plant to write; a text that is undefined is absent. */
export type PlantToWrite = Pick<NewPlant, 'id' | 'name'> & {
  readonly [Name in Text]?: string | undefined
}
