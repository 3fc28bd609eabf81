// Plants as JSON, one per line.

import { OpenError } from '../errors'
import { exactNumber } from '../plant'
import { parseJson } from '../plant-json'
import { refuseUtf16, withoutByteOrderMark } from './encoding'
import type { PlantToWrite, RawEntry } from './entry'
import { readLines, splitLines } from './lines'

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

function readLine(line: number, text: string | null): RawEntry {
  if (text === null) return { line, problem: 'not UTF-8; convert with iconv' }
  try {
    const value = parseJson(text)
    return Array.isArray(value) ? { line, problem: ARRAY } : { line, value }
  } catch {
    return { line, problem: 'not JSON' }
  }
}

/** Reads the lines of a stream, except blank ones. Throws an `OpenError` if the first begins an array. */
export async function* readNdjsonLines(
  stream: AsyncIterable<Uint8Array>,
  limit: number,
): AsyncGenerator<readonly RawEntry[]> {
  let isFirst = true

  for await (const { number, bytes } of readLines(refuseUtf16(stream), limit)) {
    if (bytes === null) {
      yield [{ line: number, problem: `longer than ${limit} bytes` }]
      continue
    }
    const texts = decodeLines(number === 1 ? withoutByteOrderMark(bytes) : bytes)
    const entries: RawEntry[] = []
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
export function ndjsonLine(plant: PlantToWrite): string {
  const id = exactNumber(plant.id)
  // A larger id needs raw JSON, which not every browser has; writing all ids so would take twice the time.
  return id === null
    ? `{"id":${plant.id},${JSON.stringify({ ...plant, id: undefined }).slice(1)}\n`
    : `${JSON.stringify({ ...plant, id })}\n`
}
