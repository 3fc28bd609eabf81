// Plants as JSON, one per line.

import { OpenError } from '../errors'
import { parseJson } from '../plant/json'
import { exactNumber } from '../plant/plant'
import { concat, toUtf8 } from './encoding'
import type { PlantToWrite, RawEntry } from './format'

const ARRAY = 'expected one plant object per line, found an array'

const NEWLINE = 10
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

/** The texts of lines: decoded all at once if they are UTF-8, as usual; otherwise one by one. */
function decodeLines(bytes: Uint8Array): (string | null)[] {
  const text = decode(bytes)
  if (text !== null) return text.split('\n')
  const lines: (string | null)[] = []
  let start = 0
  for (let end = bytes.indexOf(NEWLINE); end >= 0; end = bytes.indexOf(NEWLINE, start)) {
    lines.push(decode(bytes.subarray(start, end)))
    start = end + 1
  }
  return [...lines, decode(bytes.subarray(start))]
}

function readLine(line: number, text: string | null): RawEntry {
  if (text === null) return { line, problem: 'not UTF-8; convert with iconv' }
  try {
    const value = parseJson(text)
    return Array.isArray(value) ? { line, problem: ARRAY } : { line, value }
  } catch {
    return { line, problem: 'not JSON' }
  }
}

/**
 * Reads the lines of a stream, except blank ones, those that end in a chunk together. A line that began in an earlier chunk
 * has at most `limit` bytes. Throws an `OpenError` if the first begins an array.
 */
export async function* readNdjsonLines(
  stream: AsyncIterable<Uint8Array>,
  limit: number,
): AsyncGenerator<readonly RawEntry[]> {
  let isFirst = true
  let line = 0
  // The beginning of a line, and its length. Of one that is too long, only the length is kept.
  let rest: Uint8Array[] = []
  let length = 0

  /** Takes whole lines, of which the first may have begun earlier. */
  function readLines(bytes: Uint8Array): RawEntry[] {
    const end = bytes.indexOf(NEWLINE)
    const isTooLong = length > 0 && length + (end < 0 ? bytes.length : end) > limit
    const entries: RawEntry[] = []
    for (const [index, text] of decodeLines(concat([...rest, bytes])).entries()) {
      line += 1
      const begin = text === null ? '' : NO_SPACE.exec(text)?.[0]
      if (isTooLong && index === 0) entries.push({ line, problem: `longer than ${limit} bytes` })
      else if (isFirst && begin === '[') throw new OpenError(`${ARRAY}; convert with: jq -c '.[]'`)
      else if (begin !== undefined) entries.push(readLine(line, text))
      isFirst &&= entries.length === 0
    }
    rest = []
    length = 0
    return entries
  }

  for await (const chunk of toUtf8(stream)) {
    const end = chunk.lastIndexOf(NEWLINE)
    if (end >= 0) yield readLines(chunk.subarray(0, end))
    const begun = chunk.slice(end + 1)
    length += begun.length
    if (length <= limit) rest.push(begun)
    else rest = []
  }
  if (length > 0) yield readLines(new Uint8Array())
}

/** The line of a plant. */
export function ndjsonLine(plant: PlantToWrite): string {
  const id = exactNumber(plant.id)
  // A larger id needs raw JSON, which not every browser has; writing all ids so would take twice the time.
  return id === null
    ? `{"id":${plant.id},${JSON.stringify({ ...plant, id: undefined }).slice(1)}\n`
    : `${JSON.stringify({ ...plant, id })}\n`
}
