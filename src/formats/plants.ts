// Plants in files of either format.

import { getSchemaValidator } from 'elysia'
import { explainMismatch } from '../mismatch'
import { type Format, LONGEST_BODY_BYTES } from '../options'
import { NewPlant, toNewPlant } from '../plant'
import { type CsvEntry, csvHeader, csvLine, readCsvRecords } from './csv'
import { type NdjsonEntry, ndjsonLine, readNdjsonLines } from './ndjson'

/** A plant of a file, or what is wrong with the line where it should be. */
export type Entry = { readonly line: number } & (
  | { readonly plant: NewPlant }
  | { readonly problem: string }
)

// A plant's line is about as long as the body that it was created of.
const MAX_LINE_BYTES = LONGEST_BODY_BYTES + 1024

/** The format that a file's name tells; null where it tells none. */
export function formatOf(path: string): Format | null {
  if (/\.(ndjson|jsonl)$/i.test(path)) return 'ndjson'
  return /\.csv$/i.test(path) ? 'csv' : null
}

/**
 * Reads the plants of a stream of bytes, those of each chunk together. `onNotice` is told what a user should know of the
 * whole file. Throws an `OpenError` where it is no file of this format.
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

/** What an export begins with. */
export const header: Record<Format, string> = { ndjson: '', csv: csvHeader }

/** The line of a plant. */
export const writePlant: Record<Format, (plant: NewPlant) => string> = {
  ndjson: ndjsonLine,
  csv: csvLine,
}
