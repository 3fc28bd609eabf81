import { getSchemaValidator } from 'elysia'
import { PlantError } from '../errors'
import { explainMismatch } from '../mismatch'
import { type Format, LONGEST_BODY_BYTES } from '../options'
import { NewPlant } from '../plant'
import { parseBody, toJson } from '../plant-json'
import { csvHeader, csvLine, readCsvRecords } from './csv'
import { readLines } from './lines'

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

const validator = () => getSchemaValidator(NewPlant, { normalize: false })

function check(schema: ReturnType<typeof validator>, line: number, value: unknown): Entry {
  if (!schema.Check(value)) return { line, problem: explainMismatch(schema, value) }
  const { id, name, tag } = value as NewPlant
  return { line, plant: tag === undefined ? { id, name } : { id, name, tag } }
}

// The mark that some editors put before UTF-8 (RFC 8259, section 8.1).
const withoutBom = (bytes: Uint8Array): Uint8Array =>
  bytes[0] === 0xef && bytes[1] === 0xbb && bytes[2] === 0xbf ? bytes.subarray(3) : bytes

async function* readNdjson(stream: AsyncIterable<Uint8Array>): AsyncGenerator<Entry> {
  const schema = validator()
  for await (const { number: line, bytes } of readLines(stream, MAX_LINE_BYTES)) {
    if (bytes === null) {
      yield { line, problem: `the line is longer than ${MAX_LINE_BYTES} bytes` }
      continue
    }
    const text = line === 1 ? withoutBom(bytes) : bytes
    if (text.some((byte) => byte !== 32 && byte !== 13 && byte !== 9)) {
      yield readNdjsonLine(schema, line, text)
    }
  }
}

function readNdjsonLine(
  schema: ReturnType<typeof validator>,
  line: number,
  bytes: Uint8Array,
): Entry {
  try {
    return check(schema, line, parseBody(bytes))
  } catch (error) {
    if (error instanceof PlantError) return { line, problem: 'the line is not JSON in UTF-8' }
    throw error
  }
}

async function* readCsv(stream: AsyncIterable<Uint8Array>): AsyncGenerator<Entry> {
  const schema = validator()
  for await (const entry of readCsvRecords(stream, MAX_LINE_BYTES)) {
    yield 'value' in entry ? check(schema, entry.line, entry.value) : entry
  }
}

/** Reads the plants of a stream of bytes. */
export const readPlants: Record<
  Format,
  (stream: AsyncIterable<Uint8Array>) => AsyncGenerator<Entry>
> = { ndjson: readNdjson, csv: readCsv }

/** What an export begins with. */
export const header: Record<Format, string> = { ndjson: '', csv: csvHeader }

/** The line of a plant. */
export const writePlant: Record<Format, (plant: NewPlant) => string> = {
  ndjson: (plant) => `${JSON.stringify(toJson(plant))}\n`,
  csv: csvLine,
}
