// Plants as JSON, one per line.

import { OpenError, PlantError } from '../errors'
import type { NewPlant } from '../plant'
import { parseText, toJson } from '../plant-json'
import { refuseUtf16, withoutByteOrderMark } from './encoding'
import { readLines, splitLines } from './lines'

/** The value of a line, or what is wrong with it. */
export type NdjsonEntry = { readonly line: number } & (
  | { readonly value: unknown }
  | { readonly problem: string }
)

const ARRAY = 'expected one plant object per line, found an array'

const UTF8 = new TextDecoder('utf-8', { fatal: true, ignoreBOM: true })
const NO_SPACE = /[^ \t\r]/

/** Decodes bytes; null if they are not UTF-8. */
function decode(bytes: Uint8Array): string | null {
  try {
    return UTF8.decode(bytes)
  } catch {
    return null
  }
}

// All at once if they are UTF-8, as usual; otherwise one by one.
const decodeLines = (bytes: Uint8Array): (string | null)[] =>
  decode(bytes)?.split('\n') ?? splitLines(bytes).map(decode)

function readLine(line: number, text: string | null): NdjsonEntry {
  if (text === null) return { line, problem: 'not UTF-8; convert with iconv' }
  try {
    const value = parseText(text)
    return Array.isArray(value) ? { line, problem: ARRAY } : { line, value }
  } catch (error) {
    if (!(error instanceof PlantError)) throw error
    return { line, problem: 'not JSON' }
  }
}

/** Reads the lines of a stream, except blank ones. Throws an `OpenError` if the first begins an array. */
export async function* readNdjsonLines(
  stream: AsyncIterable<Uint8Array>,
  limit: number,
): AsyncGenerator<readonly NdjsonEntry[]> {
  let isFirst = true

  for await (const { number, bytes } of readLines(refuseUtf16(stream), limit)) {
    if (bytes === null) {
      yield [{ line: number, problem: `longer than ${limit} bytes` }]
      continue
    }
    const texts = decodeLines(number === 1 ? withoutByteOrderMark(bytes) : bytes)
    const entries: NdjsonEntry[] = []
    for (const [index, text] of texts.entries()) {
      const line = number + index
      const begin = text === null ? '' : NO_SPACE.exec(text)?.[0]
      if (begin === undefined) continue
      if (isFirst && begin === '[') throw new OpenError(`${ARRAY}; convert with: jq -c '.[]'`)
      isFirst = false
      entries.push(readLine(line, text))
    }
    yield entries
  }
}

/** The line of a plant. */
export const ndjsonLine = (plant: NewPlant): string => `${JSON.stringify(toJson(plant))}\n`
