import { getSchemaValidator } from 'elysia'
import type { Format } from '../config'
import { PlantError } from '../errors'
import { toJson } from '../http/answer'
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
type CsvResult = { record: CsvRecord; info: { lines: number } }
type CsvCell = { readonly column: unknown; readonly quoting: boolean; readonly header: boolean }

// A tag that is empty without quotes is none.
const castCsv = (text: string, { column, quoting, header }: CsvCell): string | undefined =>
  column === 'tag' && text === '' && !quoting && !header ? undefined : text

// An id stays a text where it is no int64, so that it does not match.
const toValue = ({ id, ...rest }: CsvRecord): unknown => ({
  ...rest,
  id: typeof id === 'string' ? (parseInt64(id) ?? id) : id,
})

async function* readCsv(stream: AsyncIterable<Uint8Array>): AsyncGenerator<Entry> {
  // Loaded when it is needed: a daemon never is in need of it.
  const { parse } = await import('csv-parse')
  const { pipeline, Readable } = await import('node:stream')
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
  // An error of the stream reaches the loop below by the parser.
  pipeline(Readable.from(stream), parser, () => {})
  for await (const { record, info } of parser as AsyncIterable<CsvResult>) {
    // The parser reads ahead of this loop.
    const before = skipped.findIndex(({ line }) => line > info.lines)
    yield* skipped.splice(0, before < 0 ? skipped.length : before)
    yield check(schema, info.lines, toValue(record))
  }
  yield* skipped.splice(0)
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
  ndjson: (plant) => `${JSON.stringify(toJson(plant))}\n`,
  csv: ({ id, name, tag }) => `${id},${csvField(name)},${tag === undefined ? '' : csvField(tag)}\n`,
}
