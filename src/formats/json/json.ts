// Bytes -> rows, for JSON: one value a line, values one after another, or those of a list.

import { OpenError } from '../../errors'
import type { Format } from '../format'
import { type Line, showText } from '../row'
import { createRowReader } from './rows'
import { JsonScanner } from './scanner'
import { createPathTest, findShape, type Shape } from './shape'

const NON_SPACE = /[^ \t\r]/

/** Reads the lines of a text, except blank ones, an array per part. A line has at most `limit` characters. */
async function* readLines(
  text: AsyncIterable<string>,
  limit: number,
): AsyncGenerator<readonly Line[]> {
  const readRow = createRowReader('lines')
  let line = 0
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
      else if (NON_SPACE.test(text)) rows.push(readRow(line, text, null))
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
): AsyncGenerator<readonly Line[]> {
  // The names of the columns may be elsewhere in the document.
  const header = shape === 'values' ? null : shape.header
  let rows: Line[] = header ? [{ line: 1, cells: header }] : []
  let isFound = shape === 'values'
  const isOfList = shape === 'values' ? null : createPathTest(shape.list)
  let isStopped = false
  const readRow = createRowReader(shape)
  const scanner = new JsonScanner(
    {
      isRows(path, isArray) {
        if (shape === 'values' || !isOfList) return path.length === 0
        const isList = shape.list === '' ? isArray && path.length === 0 : isOfList(path)
        isFound ||= isList
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
  )
  for await (const part of text) {
    const fault = scanner.read(part)
    yield fault && !isStopped ? [...rows, fault] : rows
    if (fault || isStopped) return
    rows = []
  }
  const fault = scanner.end()
  if (fault) rows.push(fault)
  else if (!isFound && shape !== 'values') throw new OpenError(`no list ${showText(shape.list)}`)
  yield rows
}

/** The first character of a text that is not blank, and its line, or null if there is none. */
async function beginningOf(text: AsyncIterable<string>) {
  let line = 1
  for await (const part of text) {
    const [blanks = ''] = /^[ \n\r\t]*/.exec(part) ?? []
    line += blanks.split('\n').length - 1
    const first = part[blanks.length]
    if (first !== undefined) return { first, line }
  }
  return null
}

/**
 * Opens a document. `openText`: its text, to inspect and then to read. `list`: the path of its rows, or null to decide by its
 * first value. A value has at most `limit` characters.
 */
export async function openJson(
  format: Format,
  openText: (purpose: 'inspect' | 'read') => AsyncIterable<string>,
  list: string | null,
  limit: number,
): Promise<{ list: string | null; lines: AsyncGenerator<readonly Line[]> }> {
  const beginning = list === null ? await beginningOf(openText('inspect')) : null
  const shape: Shape = beginning
    ? await findShape(format, beginning, openText('inspect'), limit)
    : list === null
      ? 'lines'
      : { list, header: null }
  const text = openText('read')
  if (shape === 'lines') return { list: null, lines: readLines(text, limit) }
  return {
    list: shape === 'values' || shape.list === '' ? null : shape.list,
    lines: readValues(text, shape, limit),
  }
}
