// Plants in files of either format.

import { getSchemaValidator } from 'elysia'
import { explainMismatch } from '../mismatch'
import { type Format, LONGEST_BODY_BYTES } from '../options'
import { NewPlant, toNewPlant } from '../plant'
import { type CsvEntry, csvHeader, csvLine, readCsvRecords } from './csv'
import { type NdjsonEntry, ndjsonLine, readNdjsonLines } from './ndjson'

/** A plant in a file, or what is wrong with its line. */
export type Entry = { readonly line: number } & (
  | { readonly plant: NewPlant }
  | { readonly problem: string }
)

// A plant's line is about as long as the body that created it.
const MAX_LINE_BYTES = LONGEST_BODY_BYTES + 1024

/** The format that a file's name indicates; null: none. */
export function formatOf(path: string): Format | null {
  if (/\.(ndjson|jsonl)$/i.test(path)) return 'ndjson'
  return /\.csv$/i.test(path) ? 'csv' : null
}

/**
 * Reads the plants of a stream of bytes, those of each chunk together. `onNotice` gets what a user should know about the
 * file as a whole. Throws an `OpenError` if it is not of this format.
 */
export async function* readPlants(
  format: Format,
  stream: AsyncIterable<Uint8Array>,
  onNotice: (notice: string) => void,
): AsyncGenerator<readonly Entry[]> {
  const schema = getSchemaValidator(NewPlant, { normalize: false })

  function toEntry(read: CsvEntry | NdjsonEntry): Entry {
    if ('problem' in read) return read
    const { line, value } = read
    if (!schema.Check(value)) return { line, problem: explainMismatch(schema, value) }
    const plant = value as NewPlant
    return { line, plant: toNewPlant(plant.id, plant) }
  }

  const parts: AsyncGenerator<readonly (CsvEntry | NdjsonEntry)[]> =
    format === 'csv'
      ? readCsvRecords(stream, MAX_LINE_BYTES, onNotice)
      : readNdjsonLines(stream, MAX_LINE_BYTES)
  for await (const part of parts) yield part.map(toEntry)
}

/** The beginning of an export. */
export const header: Record<Format, string> = { ndjson: '', csv: csvHeader }

/** The line of a plant. */
export const writePlant: Record<Format, (plant: NewPlant) => string> = {
  ndjson: ndjsonLine,
  csv: csvLine,
}
