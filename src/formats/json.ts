// Bytes -> rows, for JSON: one value per line, or an array of objects. The keys of an object are its columns.

import { parseExactly } from '../plant/json'
import { expectation } from '../plant/mismatch'
import { NewPlant } from '../plant/plant'
import { concat, decodeText, joinFirst, notUtf8, prepend, toUtf8 } from './encoding'
import type { Line } from './row'
import { optionWords, type Words } from './words'

const ARRAY = 'expected one plant object per line, found an array'
const NOT_JSON = 'not JSON'

const NEWLINE = 10
const UTF8 = new TextDecoder('utf-8', { fatal: true, ignoreBOM: true })
const NO_SPACE = /[^ \t\r]/

const isObject = (value: unknown): value is object =>
  typeof value === 'object' && value !== null && !Array.isArray(value)

/** The row of a value's text. */
function toRow(line: number, text: string): Line {
  let value: unknown
  try {
    value = parseExactly(text)
  } catch {
    return { line, problem: NOT_JSON, text }
  }
  if (isObject(value)) return { line, cells: value }
  const problem = Array.isArray(value) ? ARRAY : expectation(NewPlant, value)
  return { line, problem, text }
}

/** Decodes bytes; null if they are not UTF-8. */
function decode(bytes: Uint8Array): string | null {
  try {
    return UTF8.decode(bytes)
  } catch {
    return null
  }
}

type LineText = { readonly text: string; readonly problem?: string }

function decodeLine(bytes: Uint8Array, words: Words): LineText {
  const text = decode(bytes)
  if (text !== null) return { text }
  return { text: new TextDecoder().decode(bytes), problem: `not UTF-8: ${notUtf8(bytes, words)}` }
}

/** The texts of lines: decoded all at once if they are UTF-8, as usual; otherwise one by one. */
function decodeLines(bytes: Uint8Array, words: Words): LineText[] {
  const all = decode(bytes)
  if (all !== null) return all.split('\n').map((text) => ({ text }))
  const lines: LineText[] = []
  let start = 0
  for (let end = bytes.indexOf(NEWLINE); end >= 0; end = bytes.indexOf(NEWLINE, start)) {
    lines.push(decodeLine(bytes.subarray(start, end), words))
    start = end + 1
  }
  return [...lines, decodeLine(bytes.subarray(start), words)]
}

/** Reads the lines of UTF-8, except blank ones, those that end in a chunk together. A line has at most about `limit` bytes. */
async function* readLines(
  stream: AsyncIterable<Uint8Array>,
  limit: number,
  words: Words,
): AsyncGenerator<readonly Line[]> {
  let line = 0
  // The beginning of a line, and its length. Of one that is too long, only the length is kept.
  let rest: Uint8Array[] = []
  let length = 0

  /** Takes whole lines, of which the first may have begun earlier. */
  function take(bytes: Uint8Array): Line[] {
    const end = bytes.indexOf(NEWLINE)
    const isTooLong = length > 0 && length + (end < 0 ? bytes.length : end) > limit
    const rows: Line[] = []
    for (const [index, { text, problem }] of decodeLines(
      concat([...rest, bytes]),
      words,
    ).entries()) {
      line += 1
      if (isTooLong && index === 0)
        rows.push({ line, problem: `longer than ${limit} bytes`, text: '' })
      else if (problem !== undefined) rows.push({ line, problem, text })
      else if (NO_SPACE.test(text)) rows.push(toRow(line, text))
    }
    rest = []
    length = 0
    return rows
  }

  for await (const chunk of stream) {
    const end = chunk.lastIndexOf(NEWLINE)
    if (end >= 0) yield take(chunk.subarray(0, end))
    const begun = chunk.slice(end + 1)
    length += begun.length
    if (length <= limit) rest.push(begun)
    else rest = []
  }
  if (length > 0) yield take(new Uint8Array())
}

const SPACE = /\s/

/** Returns a function that takes the next part of the text of an array, and returns the objects that end in it. */
function createArrayReader(limit: number) {
  const unfinished = 'the array does not end'
  let rest = ''
  let line = 1
  // What comes next: the array, a value or its end, or what follows a value.
  let wanted: 'array' | 'value' | 'next' | 'nothing' = 'array'
  // Within a value: where the scan is, how deep in brackets, and whether in a string.
  let at = 0
  let depth = 0
  let isText = false

  /** Moves to the end of a value; false if it is not in the text. */
  function findEnd(text: string): boolean {
    for (; at < text.length; at++) {
      const it = text[at]
      if (isText) {
        if (it === '\\') at += 1
        else if (it === '"') isText = false
      } else if (it === '"') isText = true
      else if (it === '{' || it === '[') depth += 1
      else if (it === '}' || it === ']' || it === ',') {
        if (depth === 0) return true
        if (it !== ',') depth -= 1
        if (depth === 0) {
          at += 1
          return true
        }
      }
    }
    return false
  }

  return (part: string, isWhole: boolean): Line[] => {
    const rows: Line[] = []
    const text = rest + part
    let start = 0
    const stop = (reason: string): Line[] => [...rows, { line, stop: reason }]
    const skip = (): string | undefined => {
      for (; start < text.length && SPACE.test(text[start] ?? ''); start++)
        if (text[start] === '\n') line += 1
      return text[start]
    }
    for (;;) {
      if (wanted !== 'value' || at === 0) {
        const it = skip()
        if (it === undefined) break
        if (wanted === 'nothing') return stop(`${JSON.stringify(it)} after the array`)
        if (wanted === 'array' || it === ']' || (wanted === 'next' && it === ',')) {
          wanted = it === ']' ? 'nothing' : 'value'
          start += 1
          continue
        }
        if (wanted === 'next')
          return stop(`expected a comma or the end of the array, found ${JSON.stringify(it)}`)
        at = start
      }
      if (!findEnd(text)) break
      const value = text.slice(start, at).trimEnd()
      rows.push(toRow(line, value))
      for (const it of value) if (it === '\n') line += 1
      start += value.length
      at = 0
      wanted = 'next'
    }
    rest = text.slice(start)
    at = Math.max(0, at - start)
    if (rest.length > limit) return stop(`a value longer than ${limit} characters`)
    return isWhole && wanted !== 'nothing' ? stop(unfinished) : rows
  }
}

async function* readArray(
  text: AsyncIterable<string>,
  limit: number,
): AsyncGenerator<readonly Line[]> {
  const read = createArrayReader(limit)
  for await (const part of text) {
    const rows = read(part, false)
    yield rows
    const last = rows.at(-1)
    if (last && 'stop' in last) return
  }
  yield read('', true)
}

const BLANK = /^[\s\ufeff\0]*$/

/**
 * Reads the values of a stream: of an array if it begins with `[`, else of lines. A value has at most `limit` characters. Throws
 * an `OpenError` if it is not in this encoding; a line of UTF-8 that is not is refused alone.
 */
export async function* readJson(
  stream: AsyncIterable<Uint8Array>,
  limit: number,
  encoding: string | null,
  words: Words = optionWords,
): AsyncGenerator<readonly Line[]> {
  const parts = joinFirst(stream)
  const first = await parts.next()
  if (first.done) return
  let head = first.value
  while (BLANK.test(String.fromCharCode(...head.subarray(0, 1024)))) {
    const more = await parts.next()
    if (more.done) break
    head = concat([head, more.value])
  }
  const all = prepend(head, parts)
  const isArray = /^[\s\ufeff\0\xef\xbb\xbf\xff\xfe]*\[/.test(
    String.fromCharCode(...head.subarray(0, 1024)),
  )
  if (isArray) yield* readArray(decodeText(all, encoding, words), limit)
  else yield* readLines(toUtf8(all, encoding, words), limit, words)
}
