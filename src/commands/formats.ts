import type { Parser } from 'csv-parse'
import { getSchemaValidator } from 'elysia'
import type { Format } from '../config'
import { PlantError } from '../errors'
import { withExactId } from '../http/answer'
import { parseBody } from '../http/body'
import { explainMismatch } from '../http/errors'
import { NewPlant, parseInt64 } from '../plant'
import { readLines } from './lines'

/** A plant of a file, or what is wrong with the line where it should be. */
export type Entry = { readonly line: number } & (
  | { readonly plant: NewPlant }
  | { readonly problem: string }
)

const MAX_LINE_BYTES = 16 * 1024 * 1024

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

async function* readNdjson(stream: AsyncIterable<Uint8Array>): AsyncGenerator<Entry> {
  const schema = validator()
  for await (const { number: line, bytes } of readLines(stream, MAX_LINE_BYTES)) {
    if (bytes === null) {
      yield { line, problem: `the line is longer than ${MAX_LINE_BYTES} bytes` }
    } else if (bytes.some((byte) => byte !== 32 && byte !== 13 && byte !== 9)) {
      yield readNdjsonLine(schema, line, bytes)
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

type CsvRecord = { id: unknown; name?: unknown; tag?: unknown }

// An id stays a text where it is no int64, so that it does not match; a tag that is empty without quotes is none.
const castCsv = (
  value: string,
  { column, quoting, header }: { column: unknown; quoting: boolean; header: boolean },
) => {
  if (header) return value
  if (column === 'id') return parseInt64(value) ?? value
  return column === 'tag' && value === '' && !quoting ? undefined : value
}

async function* readCsv(stream: AsyncIterable<Uint8Array>): AsyncGenerator<Entry> {
  // Loaded when it is needed: a daemon never is in need of it.
  const { parse } = await import('csv-parse')
  const schema = validator()
  const skipped: Entry[] = []
  const parser = parse({
    bom: true,
    columns: true,
    info: true,
    cast: castCsv,
    skip_empty_lines: true,
    skip_records_with_error: true,
    max_record_size: MAX_LINE_BYTES,
    on_skip: (error) => {
      skipped.push({
        line: Number(error?.lines ?? 0),
        problem: error?.message ?? 'the line is not CSV',
      })
      return undefined
    },
  })
  const failed = pump(stream, parser)
  for await (const { record, info } of parser as AsyncIterable<{
    record: CsvRecord
    info: { lines: number }
  }>) {
    yield* skipped.splice(0)
    yield check(schema, info.lines, record)
  }
  yield* skipped.splice(0)
  await failed
}

async function pump(stream: AsyncIterable<Uint8Array>, parser: Parser): Promise<void> {
  for await (const chunk of stream) {
    if (!parser.write(chunk)) await new Promise((resolve) => parser.once('drain', resolve))
  }
  parser.end()
}

/** Reads the plants of a stream of bytes. */
export const readPlants: Record<
  Format,
  (stream: AsyncIterable<Uint8Array>) => AsyncGenerator<Entry>
> = { ndjson: readNdjson, csv: readCsv }

// RFC 4180, section 2. A tag that is the empty string is quoted; one that is absent is not.
const csvField = (text: string): string =>
  text === '' || /[",\r\n]|^\s|\s$|^\ufeff/.test(text) ? `"${text.replaceAll('"', '""')}"` : text

/** What an export begins with. */
export const header: Record<Format, string> = { ndjson: '', csv: 'id,name,tag\n' }

/** The line of a plant. */
export const writePlant: Record<Format, (plant: NewPlant) => string> = {
  ndjson: (plant) => `${JSON.stringify(withExactId(plant))}\n`,
  csv: ({ id, name, tag }) => `${id},${csvField(name)},${tag === undefined ? '' : csvField(tag)}\n`,
}
