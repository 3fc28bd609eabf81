// Bytes -> rows, for JSON: one value a line, values one after another, or those of a list.

import { OpenError } from '../../errors'
import type { Advice } from '../advice'
import { concat } from '../bytes'
import { decodeParts, prepend, toUtf8 } from '../encoding/encoding'
import type { Format } from '../format'
import { type Line, showText } from '../row'
import type { Opener } from '../source'
import { createRowReader, toBoundedRow, toRow } from './rows'
import { JsonScanner } from './scanner'
import { findShape, matchesPath, type Shape } from './shape'

const NEWLINE = 10
const MAX_NAMED = 12
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

type LineText = { readonly text: string; readonly problem?: string }

function decodeLine(bytes: Uint8Array, advice: Advice): LineText {
  const text = decode(bytes)
  if (text !== null) return { text }
  return { text: new TextDecoder().decode(bytes), problem: `not UTF-8; ${advice.encoding(null)}` }
}

/** The texts of lines: decoded all at once if they are UTF-8, as usual; otherwise one by one. */
function decodeLines(bytes: Uint8Array, advice: Advice): LineText[] {
  const all = decode(bytes)
  if (all !== null) return all.split('\n').map((text) => ({ text }))
  const lines: LineText[] = []
  let start = 0
  for (let end = bytes.indexOf(NEWLINE); end >= 0; end = bytes.indexOf(NEWLINE, start)) {
    lines.push(decodeLine(bytes.subarray(start, end), advice))
    start = end + 1
  }
  return [...lines, decodeLine(bytes.subarray(start), advice)]
}

/** Reads lines of UTF-8, except blank ones, an array per chunk. A line has at most about `limit` bytes. */
async function* readLines(
  stream: AsyncIterable<Uint8Array>,
  limit: number,
  advice: Advice,
  firstLine: number,
): AsyncGenerator<readonly Line[]> {
  let line = firstLine - 1
  // The beginning of a line, and its length; if it is too long, only the length.
  let rest: Uint8Array[] = []
  let length = 0

  /** Splits whole lines; the first may have begun in an earlier chunk. */
  function splitLines(bytes: Uint8Array): Line[] {
    const end = bytes.indexOf(NEWLINE)
    const isTooLong = length > 0 && length + (end < 0 ? bytes.length : end) > limit
    const rows: Line[] = []
    for (const [index, { text, problem }] of decodeLines(
      concat([...rest, bytes]),
      advice,
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
    yield end < 0 ? [] : splitLines(chunk.subarray(0, end))
    const lineStart = chunk.slice(end + 1)
    length += lineStart.length
    if (length <= limit) rest.push(lineStart)
    else rest = []
  }
  if (length > 0) yield splitLines(new Uint8Array())
}

/** Reads the values that are rows in a document of this shape. */
async function* readValues(
  text: AsyncIterable<string>,
  shape: Exclude<Shape, 'lines'>,
  limit: number,
  firstLine: number,
): AsyncGenerator<readonly Line[]> {
  let rows: Line[] = []
  let isFound = shape === 'values'
  const lists = new Set<string>()
  let isStopped = false
  const readRow = shape === 'values' ? toBoundedRow : createRowReader()
  const scanner = new JsonScanner(
    {
      isRows(path, isArray) {
        if (shape === 'values') return path.length === 0
        const isList =
          shape.list === '' ? isArray && path.length === 0 : matchesPath(path, shape.list)
        isFound ||= isList
        if (!isFound && isArray && lists.size < MAX_NAMED) lists.add(path.join('.'))
        return isList
      },
      isSeries: true,
      onRow(line, value, key) {
        const row = readRow(line, value, key)
        if (row !== null && !isStopped) rows.push(row)
        isStopped ||= row !== null && 'stop' in row
      },
    },
    limit,
    firstLine,
  )
  for await (const part of text) {
    const fault = scanner.read(part)
    yield fault && !isStopped ? [...rows, fault] : rows
    if (fault || isStopped) return
    rows = []
  }
  const fault = scanner.end()
  if (fault) rows.push(fault)
  else if (!isFound && shape !== 'values') {
    const names = [...lists].map(showText).join(', ')
    throw new OpenError(
      `no list ${showText(shape.list)}${names === '' ? '' : `; the lists are ${names}`}`,
    )
  }
  yield rows
}

const isBlank = (byte: number) => byte === 32 || byte === NEWLINE || byte === 13 || byte === 9

/** A text without leading blanks, the line in which it begins then, and its first character. */
async function skipBlanks(stream: AsyncIterable<Uint8Array>) {
  const parts = stream[Symbol.asyncIterator]()
  let line = 1
  for (let next = await parts.next(); !next.done; next = await parts.next()) {
    const bytes = next.value
    let index = 0
    for (; index < bytes.length && isBlank(bytes[index] ?? 0); index++)
      if (bytes[index] === NEWLINE) line += 1
    if (index === bytes.length) continue
    const rest = { [Symbol.asyncIterator]: () => parts }
    const first = String.fromCharCode(bytes[index] ?? 0)
    return { first, line, text: prepend(bytes.subarray(index), rest) }
  }
  return null
}

/** The way to read a JSON document. `list`: the path of its rows; null: decided by its first value. */
type JsonSettings = { readonly encoding: string | null; readonly list: string | null }

/**
 * Opens a document; each call of `open` reads from its beginning. A value has at most `limit` characters. Throws an
 * `OpenError` if it is not JSON, or in another encoding; a line with invalid UTF-8 is refused alone.
 */
export async function openJson(
  format: Format,
  open: Opener,
  { encoding, list }: JsonSettings,
  limit: number,
  advice: Advice,
) {
  const openText = (purpose: 'inspect' | 'read') =>
    skipBlanks(toUtf8(open(purpose), encoding, advice))
  const beginning = await openText('read')
  if (!beginning)
    return { list: null, lines: (async function* (): AsyncGenerator<readonly Line[]> {})() }
  const { first, line, text } = beginning
  // Ignores invalid UTF-8, which the later read reports.
  async function* reopen(): AsyncGenerator<string> {
    const decoder = new TextDecoder()
    const other = await openText('inspect')
    for await (const part of other?.text ?? []) yield decoder.decode(part, { stream: true })
  }
  const shape: Shape =
    list === null ? await findShape(format, first, reopen, line, limit, advice) : { list }
  if (shape === 'lines') return { list: null, lines: readLines(text, limit, advice, line) }
  const lines = readValues(decodeParts(text, 'utf-8', advice, line), shape, limit, line)
  return { list: shape === 'values' || shape.list === '' ? null : shape.list, lines }
}
