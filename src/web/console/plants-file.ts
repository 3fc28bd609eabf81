// Streams a file of plants: the plant on each line, or what is wrong with it.

import type { NewPlant } from '../../client/client.ts'
import { readCsv } from './csv.ts'
import { INT64_RULE } from './field-errors.ts'
import { readNdjson } from './ndjson.ts'
import { FileError, type RawEntry } from './raw-entry.ts'

export type Format = 'ndjson' | 'csv'

/** The plant on a line, or what is wrong with it. */
export type Entry = { readonly line: number } & (
  | { readonly plant: NewPlant }
  | { readonly problem: string }
)

/** The format by the extension of a file's name; null if it is unknown. */
export function formatOf(name: string): Format | null {
  if (/\.(ndjson|jsonl)$/i.test(name)) return 'ndjson'
  return /\.csv$/i.test(name) ? 'csv' : null
}

function explain({ id, name, tag }: Record<string, unknown>): string {
  const text = (field: string) =>
    `${field}: expected a string without U+0000 and without unpaired surrogates`
  return [
    ...(id === undefined ? ['id is missing'] : typeof id === 'bigint' ? [] : [INT64_RULE]),
    ...(name === undefined ? ['name is missing'] : typeof name === 'string' ? [] : [text('name')]),
    ...(tag === undefined || typeof tag === 'string' ? [] : [text('tag')]),
  ].join('; ')
}

function toEntry(entry: RawEntry): Entry {
  if ('problem' in entry) return entry
  const { line, value } = entry
  if (typeof value !== 'object' || value === null || Array.isArray(value)) {
    return { line, problem: 'expected an object with id, name and, optionally, tag' }
  }
  const { id, name, tag } = value as Record<string, unknown>
  if (typeof id !== 'bigint' || typeof name !== 'string')
    return { line, problem: explain({ ...value }) }
  if (tag === undefined) return { line, plant: { id, name } }
  return typeof tag === 'string'
    ? { line, plant: { id, name, tag } }
    : { line, problem: explain({ ...value }) }
}

/** The text of a file in parts; `onRead` gets the number of bytes in each. */
async function* textOf(file: Blob, onRead: (bytes: number) => void): AsyncGenerator<string> {
  // Skips a byte order mark.
  const decoder = new TextDecoder('utf-8', { fatal: true })
  const reader = file.stream().getReader()
  try {
    for (;;) {
      const { done, value } = await reader.read()
      if (done) break
      onRead(value.byteLength)
      yield decoder.decode(value, { stream: true })
    }
    yield decoder.decode()
  } catch (cause) {
    if (!(cause instanceof TypeError)) throw cause
    throw new FileError('not UTF-8; convert with iconv', { cause })
  } finally {
    await reader.cancel()
  }
}

/** Reads the plants of a file. Throws a {@link FileError} if it cannot continue. */
export async function* readPlants(
  file: Blob,
  format: Format,
  onRead: (bytes: number) => void,
): AsyncGenerator<Entry> {
  const text = textOf(file, onRead)
  for await (const entry of format === 'csv' ? readCsv(text) : readNdjson(text))
    yield toEntry(entry)
}
