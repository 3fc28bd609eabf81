// Plants in files of either format, for commands and browsers alike.

import { Kind, TypeRegistry } from '@sinclair/typebox'
import { LONGEST_BODY_BYTES } from '../plant/json'
import { expectation, fieldProblem } from '../plant/mismatch'
import { charactersOf, FIELDS, NewPlant, toNewPlant } from '../plant/plant'
import { csvHeader, csvLine, inertCsvLine, readCsvRecords } from './csv'
import type { Entry, Format, PlantToWrite, RawEntry } from './format'
import { ndjsonLine, readNdjsonLines } from './ndjson'

// A plant's line is about as long as the body that created it.
const MAX_LINE_BYTES = LONGEST_BODY_BYTES + 1024

type Values = { readonly [field: string]: unknown }

const isObject = (value: unknown): value is Values =>
  typeof value === 'object' && value !== null && !Array.isArray(value)

// Not Elysia's validator, which is large, and compiles what the policy of a page forbids.
const fields = FIELDS.map((name) => {
  const schema = NewPlant.properties[name]
  const check = TypeRegistry.Get(schema[Kind])
  const isOptional = !NewPlant.required.some((required) => required === name)
  return {
    fits: ({ [name]: value }: Values) =>
      value === undefined ? isOptional : check?.(schema, value) === true,
    explain: (values: Values) => fieldProblem(name, values[name], schema),
  }
})

const isPlant = (values: Values): values is NewPlant => fields.every(({ fits }) => fits(values))

function toEntry(read: RawEntry): Entry {
  if ('problem' in read) return read
  const { line, value } = read
  if (!isObject(value)) return { line, problem: expectation(NewPlant, value) }
  if (isPlant(value)) return { line, plant: toNewPlant(value.id, value) }
  const wrong = fields.filter(({ fits }) => !fits(value))
  return { line, problem: wrong.map(({ explain }) => explain(value)).join('; ') }
}

/**
 * Reads the plants of a stream of bytes, those of each chunk together. `delimiter`: that of CSV; null to find it out.
 * `onNotice` gets what a user should know about the file as a whole. Throws an `OpenError` if it is not of this format.
 */
export async function* readPlants(
  format: Format,
  stream: AsyncIterable<Uint8Array>,
  delimiter: string | null,
  onNotice: (notice: string) => void,
): AsyncGenerator<readonly Entry[]> {
  const parts =
    format === 'csv'
      ? readCsvRecords(stream, MAX_LINE_BYTES, delimiter, onNotice)
      : readNdjsonLines(stream, MAX_LINE_BYTES)
  for await (const part of parts) yield part.map(toEntry)
}

// The store queues no more than 8 million characters.
const AT_ONCE = 1000
const CHARACTERS_AT_ONCE = 4_000_000

/** Groups of at most 1000 entries and 4 million characters; only a single entry may have more. */
export async function* grouped(parts: AsyncIterable<readonly Entry[]>): AsyncGenerator<Entry[]> {
  let group: Entry[] = []
  let characters = 0
  for await (const entries of parts) {
    for (const entry of entries) {
      const more = 'plant' in entry ? charactersOf(entry.plant) : 0
      const isTooMuch = characters + more > CHARACTERS_AT_ONCE && group.length > 0
      if (group.length === AT_ONCE || isTooMuch) {
        yield group
        group = []
        characters = 0
      }
      group.push(entry)
      characters += more
    }
  }
  if (group.length > 0) yield group
}

/** How plants are written: what a file begins with, and the line of each. */
export type Writer = { readonly header: string; readonly line: (plant: PlantToWrite) => string }

export const writers = {
  ndjson: { header: '', line: ndjsonLine },
  csv: { header: csvHeader, line: csvLine },
  /** CSV of which a spreadsheet runs nothing as a formula. */
  inert: { header: csvHeader, line: inertCsvLine },
} satisfies Record<Format | 'inert', Writer>
