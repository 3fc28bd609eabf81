// Bytes -> rows, for JSON: one value a line, values one after another, or those of a list.

import { OpenError } from '../../errors'
import type { Advice } from '../advice'
import { decodeText, prepend } from '../encoding/encoding'
import type { Format } from '../format'
import { type Line, showText } from '../row'
import type { Opener } from '../source'
import { createRowReader } from './rows'
import { JsonScanner } from './scanner'
import { createPathTest, findShape, MAX_NAMED, type Shape } from './shape'

const NO_SPACE = /[^ \t\r]/

/** Reads the lines of a text, except blank ones, an array per part. A line has at most `limit` characters. */
async function* readLines(
  text: AsyncIterable<string>,
  limit: number,
  firstLine: number,
): AsyncGenerator<readonly Line[]> {
  const readRow = createRowReader('lines')
  let line = firstLine - 1
  // The beginning of a line, and its length; if it is too long, only the length.
  let pieces: string[] = []
  let length = 0

  /** Splits whole lines; the first may have begun in an earlier part. */
  function splitLines(part: string): Line[] {
    const texts = part.split('\n')
    const [first = ''] = texts
    const isTooLong = length + first.length > limit
    texts[0] = pieces.join('') + first
    const rows: Line[] = []
    for (const [index, text] of texts.entries()) {
      line += 1
      if (isTooLong && index === 0)
        rows.push({ line, problem: `longer than ${limit} characters`, text: '' })
      else if (NO_SPACE.test(text)) rows.push(readRow(line, text, null))
    }
    pieces = []
    length = 0
    return rows
  }

  for await (const part of text) {
    const end = part.lastIndexOf('\n')
    yield end < 0 ? [] : splitLines(part.slice(0, end))
    const beginning = part.slice(end + 1)
    length += beginning.length
    if (length <= limit) pieces.push(beginning)
    else pieces = []
  }
  if (length > 0) yield splitLines('')
}

/** Reads the values that are rows in a document of this shape. */
async function* readValues(
  text: AsyncIterable<string>,
  shape: Exclude<Shape, 'lines'>,
  limit: number,
  firstLine: number,
): AsyncGenerator<readonly Line[]> {
  // The names of the columns may be elsewhere in the document.
  const header = shape === 'values' ? null : shape.header
  let rows: Line[] = header ? [{ line: firstLine, cells: header }] : []
  let isFound = shape === 'values'
  const isOfList = shape === 'values' ? null : createPathTest(shape.list)
  const lists = new Set<string>()
  let isStopped = false
  const readRow = createRowReader(shape)
  const scanner = new JsonScanner(
    {
      isRows(path, isArray) {
        if (shape === 'values' || !isOfList) return path.length === 0
        const isList = shape.list === '' ? isArray && path.length === 0 : isOfList(path)
        isFound ||= isList
        if (!isFound && isArray && lists.size < MAX_NAMED) lists.add(path.join('.'))
        return isList
      },
      isSeries: true,
      onRow(line, value, key) {
        const row = readRow(line, value, key)
        if (!isStopped) rows.push(row)
        isStopped ||= 'stop' in row
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

/** A text without leading blanks, the line in which it begins then, and its first character. */
async function skipBlanks(text: AsyncIterable<string>) {
  const parts = text[Symbol.asyncIterator]()
  let line = 1
  for (let next = await parts.next(); !next.done; next = await parts.next()) {
    const beginning = next.value.replace(/^[ \n\r\t]+/, '')
    const [first] = beginning
    line += next.value.slice(0, next.value.length - beginning.length).split('\n').length - 1
    if (first === undefined) continue
    const rest = { [Symbol.asyncIterator]: () => parts }
    return { first, line, text: prepend(beginning, rest) }
  }
  return null
}

/** The way to read a JSON document. `list`: the path of its rows; null: decided by its first value. */
type JsonSettings = { readonly encoding: string | null; readonly list: string | null }

/**
 * Opens a document; each call of `open` reads from its beginning. A value has at most `limit` characters. Throws an
 * `OpenError` if it is not JSON, or in another encoding.
 */
export async function openJson(
  format: Format,
  open: Opener,
  { encoding, list }: JsonSettings,
  limit: number,
  advice: Advice,
) {
  const openText = (purpose: 'inspect' | 'read') =>
    skipBlanks(decodeText(open(purpose), encoding, advice))
  const beginning = await openText('read')
  if (!beginning)
    return { list: null, lines: (async function* (): AsyncGenerator<readonly Line[]> {})() }
  const { first, line, text } = beginning
  async function* reopen(): AsyncGenerator<string> {
    yield* (await openText('inspect'))?.text ?? []
  }
  const shape: Shape =
    list === null
      ? await findShape(format, first, reopen, line, limit, advice)
      : { list, header: null }
  if (shape === 'lines') return { list: null, lines: readLines(text, limit, line) }
  const lines = readValues(text, shape, limit, line)
  return { list: shape === 'values' || shape.list === '' ? null : shape.list, lines }
}
