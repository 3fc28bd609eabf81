// Text -> rows, for comma-separated values (RFC 4180) and their relatives with another delimiter.

import type { Line } from './row'

/** The delimiters that are looked for, the most usual first. */
const DELIMITERS = [',', ';', '\t', '|'] as const

type Cells = readonly (string | null)[]

// A row, a row with a fault, or an unterminated one, and its end in the text. `lines`: the number of line ends within it.
type RowMatch = {
  readonly end: number
  readonly lines: number
  readonly cells?: Cells
  /** The column of a stray quote: text follows where it closes. */
  readonly strayQuote?: number
  /** The column of an unterminated quote. */
  readonly openQuote?: number
}

const LINE_END = /\r\n|\n|\r/
// An unfinished row of this length is read again only when it has doubled: otherwise it would take quadratic time.
const LONG = 65_536

// A line end at the end of the text begins no new line.
function countLineEnds(text: string): number {
  const lines = text.split(LINE_END)
  return lines.length - (lines.at(-1) === '' ? 2 : 1)
}

// The index of the quote that closes a cell; -1 if the text does not have it.
function findClosingQuote(text: string, start: number): number {
  let index = text.indexOf('"', start)
  while (index >= 0 && text[index + 1] === '"') index = text.indexOf('"', index + 2)
  return index
}

// The end of an unquoted cell, in which quotes are characters.
function findEnd(text: string, start: number, delimiter: string): number {
  let index = start
  for (; index < text.length; index++) {
    const character = text[index]
    if (character === delimiter || character === '\n' || character === '\r') break
  }
  return index
}

const findLineEnd = (text: string, start: number): number => findEnd(text, start, '\n')

/**
 * Reads a row, with its line end; null if it may continue after the text. `isLiteral`: a quote is a character unless it is closed
 * in its line, right before a delimiter or the line's end.
 */
function readRow(
  text: string,
  start: number,
  isWhole: boolean,
  delimiter: string,
  isLiteral: boolean,
): RowMatch | null {
  const cells: (string | null)[] = []
  let lines = 0
  let strayQuote: number | undefined
  const ends = `${delimiter}\n\r`
  const lineEnd = isLiteral ? findLineEnd(text, start) : -1
  for (let index = start; ; index++) {
    const close = text[index] === '"' ? findClosingQuote(text, index + 1) : -1
    const afterQuote = text[close + 1]
    const isClosed = close >= 0 && (afterQuote === undefined || ends.includes(afterQuote))
    const isQuoted = text[index] === '"' && !(isLiteral && !(isClosed && close < lineEnd))
    if (isQuoted) {
      if (close < 0) return isWhole ? { end: text.length, lines, openQuote: cells.length } : null
      lines += countLineEnds(text.slice(index, close + 1))
      cells.push(text.slice(index + 1, close).replaceAll('""', '"'))
      index = close + 1
      if (!isClosed) {
        strayQuote ??= cells.length - 1
        index = findEnd(text, index, delimiter)
      }
    } else {
      const end = findEnd(text, index, delimiter)
      cells.push(end === index ? null : text.slice(index, end))
      index = end
    }
    const next = text[index]
    if (next === delimiter) continue
    const match = strayQuote === undefined ? { cells, lines } : { strayQuote, lines }
    if (next === undefined) return isWhole ? { ...match, end: index } : null
    if (next === '\r' && index + 1 === text.length && !isWhole) return null
    return { ...match, end: next === '\r' && text[index + 1] === '\n' ? index + 2 : index + 1 }
  }
}

const isBlank = (cells: Cells): boolean =>
  cells.every((cell) => cell === null || cell === '' || cell.trim() === '')

/** Parses the next part of a text into the rows that end in it, without empty rows. No row follows a stop. */
type CsvReader = (part: string, isWhole: boolean) => Line[]

/** The delimiters of files whose quotes are mostly characters. */
const LITERAL = ['\t', '|']
// The maximum length of a quoted cell in such a file: beyond it, the quote was a character.
const MAX_QUOTED = 65_536

/** True if the last cell of a line begins with a quote that is closed in a later line, before any delimiter. */
function hasOpenEnd(text: string, start: number, delimiter: string): boolean | null {
  const lineEnd = findLineEnd(text, start)
  const cell = Math.max(text.lastIndexOf(delimiter, lineEnd - 1) + 1, start)
  if (text[cell] !== '"') return false
  const close = findClosingQuote(text, cell + 1)
  if (close >= 0 && close < lineEnd) return false
  const next = text.indexOf(delimiter, lineEnd)
  if (close < 0) return next < 0 && text.length - cell < MAX_QUOTED ? null : false
  return (next < 0 || close < next) && close - cell < MAX_QUOTED
}

/**
 * Reads a row between tabs or bars. Quotes are characters, unless the row has too few cells otherwise, or its last cell
 * continues in lines without delimiters. `width`: the expected number of cells.
 */
function readLiteralRow(
  text: string,
  start: number,
  isWhole: boolean,
  delimiter: string,
  width: number,
): RowMatch | null {
  const literal = readRow(text, start, isWhole, delimiter, true)
  if (!literal?.cells || width < 2) return literal
  if (literal.cells.length > width) return literal
  if (literal.cells.length === width) {
    const isOpen = hasOpenEnd(text, start, delimiter)
    if (isOpen === null && !isWhole) return null
    if (!isOpen) return literal
  }
  const window = text.slice(start, start + MAX_QUOTED)
  const quotedRow = readRow(window, 0, isWhole || window.length === MAX_QUOTED, delimiter, false)
  if (quotedRow === null) return null
  return quotedRow.cells?.length === width ? { ...quotedRow, end: start + quotedRow.end } : literal
}

/** Reads rows of at most `limit` characters. `delimiter`: one character. */
export function createCsvReader(limit: number, delimiter: string): CsvReader {
  const tooLong = `a row longer than ${limit} characters`
  let rest = ''
  let line = 1
  let minLength = 0
  let width = 0

  const read = (text: string, start: number, isWhole: boolean): RowMatch | null =>
    LITERAL.includes(delimiter)
      ? readLiteralRow(text, start, isWhole, delimiter, width)
      : readRow(text, start, isWhole, delimiter, false)

  return (part, isWhole) => {
    const rows: Line[] = []
    const text = rest + part
    let start = 0
    while (start < text.length && (text.length >= minLength || isWhole)) {
      const match = read(text, start, isWhole)
      if (!match) break
      const { end, cells, lines, strayQuote, openQuote } = match
      if (end - start > limit) return [...rows, { line, stop: tooLong }]
      if (openQuote !== undefined)
        return [...rows, { line: line + lines, stop: 'unterminated quote', column: openQuote }]
      const first = line
      line += lines
      if (strayQuote !== undefined) {
        rows.push({
          line,
          problem: `${first < line ? `lines ${first} to ${line} are one row; ` : ''}stray quote`,
          column: strayQuote,
          text: text.slice(start, end).trimEnd(),
        })
      } else if (cells && !isBlank(cells)) {
        width ||= cells.length
        rows.push({ line, cells })
      }
      line += 1
      start = end
    }
    rest = text.slice(start)
    if (rest.length > limit) return [...rows, { line, stop: tooLong }]
    // Without an attempt to read, the length to wait for stays.
    if (start > 0 || rest.length >= minLength) {
      minLength = rest.length < LONG ? 0 : Math.min(2 * rest.length, limit + 1)
    }
    return rows
  }
}

/** The length of the sample that the delimiter is detected from. */
const SAMPLE_LINES = 20
const SAMPLE_CHARACTERS = 65_536
/** Titles and comments that may come before a table. */
const MAX_PREAMBLE = 10

const median = (numbers: readonly number[]): number =>
  numbers.toSorted((a, b) => a - b)[Math.floor(numbers.length / 2)] ?? 0

/** The delimiter that splits header and rows into the most columns, or null. `widths` has those of the rows, by delimiter. */
function bestDelimiter(widths: readonly (readonly [string, readonly number[]])[]): string | null {
  let best: string | null = null
  let bestScore: readonly [number, number] = [1, Number.POSITIVE_INFINITY]
  for (const [delimiter, all] of widths) {
    const usual = median(all)
    const score = [Math.min(all[0] ?? 0, usual), usual] as const
    if (score[0] > bestScore[0] || (score[0] === bestScore[0] && score[1] > bestScore[1]))
      [best, bestScore] = [delimiter, score]
  }
  return best
}

/** The delimiter of the first rows of a text, or of those below a title or comments; default: comma. */
export function findDelimiter(sample: string): string {
  const widths = DELIMITERS.map((delimiter) => {
    const rows = createCsvReader(sample.length, delimiter)(sample, true)
    // Rows that this delimiter cannot parse are no evidence.
    const cells = rows.flatMap((row) => ('cells' in row && Array.isArray(row.cells) ? [row] : []))
    return [delimiter, cells] as const
  })
  const lines = widths.flatMap(([, rows]) => rows.map(({ line }) => line))
  const starts = [...new Set(lines)].toSorted((a, b) => a - b).slice(0, MAX_PREAMBLE + 1)
  for (const start of starts) {
    const match = bestDelimiter(
      widths.map(([delimiter, rows]) => {
        const rest = rows.filter(({ line }) => line >= start)
        return [delimiter, rest.map(({ cells }) => (cells as Cells).length)] as const
      }),
    )
    if (match !== null) return match
  }
  return ','
}

/** The first lines of a text, without empty ones before them. */
function sampleOf(text: string): string {
  const beginning = text.replace(/^[\r\n]+/, '')
  let end = 0
  for (let lines = 0; lines < SAMPLE_LINES; lines++) {
    end = findLineEnd(beginning, end)
    end += beginning.startsWith('\r\n', end) ? 2 : 1
  }
  return beginning.slice(0, Math.min(end, SAMPLE_CHARACTERS))
}

/**
 * Reads rows of at most `limit` characters. `delimiter`: null to detect it from the first part of the text. Rejects with
 * the errors of the text.
 */
export async function readCsv(
  text: AsyncIterable<string>,
  limit: number,
  delimiter: string | null,
): Promise<{ delimiter: string; lines: AsyncGenerator<readonly Line[]> }> {
  const parts = text[Symbol.asyncIterator]()
  const { value: beginning = '' } = await parts.next()
  const match = delimiter ?? findDelimiter(sampleOf(beginning))
  const read = createCsvReader(limit, match)
  async function* lines(): AsyncGenerator<readonly Line[]> {
    let rows = read(beginning, false)
    for (;;) {
      yield rows
      const last = rows.at(-1)
      if (last && 'stop' in last) return
      const next = await parts.next()
      if (next.done) break
      rows = read(next.value, false)
    }
    yield read('', true)
  }
  return { delimiter: match, lines: lines() }
}
