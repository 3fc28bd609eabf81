// Text -> rows, for comma-separated values (RFC 4180) and their relatives with another delimiter.

import type { Line } from './row'

/** The delimiters that are looked for, the most usual first. */
export const DELIMITERS = [',', ';', '\t', '|'] as const

type Cells = readonly (string | null)[]

// A row, a row with a fault, or the end of what can be read, and where it ends in the text. `lines`: the line ends within it.
type Found = {
  readonly end: number
  readonly lines: number
  readonly cells?: Cells
  /** The column of a quote that text follows. */
  readonly stray?: number
  /** The column of a quote that is never closed. */
  readonly open?: number
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
function findClosingQuote(text: string, from: number): number {
  let at = text.indexOf('"', from)
  while (at >= 0 && text[at + 1] === '"') at = text.indexOf('"', at + 2)
  return at
}

// The end of a cell without quotes: those within it are characters.
function findEnd(text: string, from: number, delimiter: string): number {
  let at = from
  for (; at < text.length; at++) {
    const it = text[at]
    if (it === delimiter || it === '\n' || it === '\r') break
  }
  return at
}

function findLineEnd(text: string, from: number): number {
  let at = from
  while (at < text.length && text[at] !== '\n' && text[at] !== '\r') at++
  return at
}

/**
 * Reads a row, with its line end; null if it may continue after the text. `isLiteral`: a quote that is not closed in its line,
 * right before a delimiter or the line's end, is a character, as tab-separated files have them.
 */
function readRow(
  text: string,
  start: number,
  isWhole: boolean,
  delimiter: string,
  isLiteral: boolean,
): Found | null {
  const cells: (string | null)[] = []
  let lines = 0
  let stray: number | undefined
  const lineEnd = isLiteral ? findLineEnd(text, start) : -1
  for (let at = start; ; at++) {
    const close = text[at] === '"' ? findClosingQuote(text, at + 1) : -1
    const after = text[close + 1]
    const isClosed =
      close >= 0 && (after === undefined || after === delimiter || after === '\n' || after === '\r')
    const isQuoted = text[at] === '"' && !(isLiteral && !(isClosed && close < lineEnd))
    if (isQuoted) {
      if (close < 0) return isWhole ? { end: text.length, lines, open: cells.length } : null
      lines += countLineEnds(text.slice(at, close + 1))
      cells.push(text.slice(at + 1, close).replaceAll('""', '"'))
      at = close + 1
      if (!isClosed) {
        stray ??= cells.length - 1
        at = findEnd(text, at, delimiter)
      }
    } else {
      const end = findEnd(text, at, delimiter)
      cells.push(end === at ? null : text.slice(at, end))
      at = end
    }
    const next = text[at]
    if (next === delimiter) continue
    const found = stray === undefined ? { cells, lines } : { stray, lines }
    if (next === undefined) return isWhole ? { ...found, end: at } : null
    if (next === '\r' && at + 1 === text.length && !isWhole) return null
    return { ...found, end: next === '\r' && text[at + 1] === '\n' ? at + 2 : at + 1 }
  }
}

const isBlank = (cells: Cells): boolean =>
  cells.every((cell) => cell === null || cell === '' || cell.trim() === '')

/**
 * Takes the next part of a text, and returns the rows that end in it, without those whose cells are all empty. Nothing follows a
 * stop.
 */
type CsvReader = (part: string, isWhole: boolean) => Line[]

/** Reads rows of at most `limit` characters. `delimiter`: one character. */
export function createCsvReader(limit: number, delimiter: string): CsvReader {
  const tooLong = `a row longer than ${limit} characters`
  let rest = ''
  let line = 1
  let enough = 0
  let width = 0

  /** In a file of tabs, quotes are characters, unless a row then has too few cells, and fits when they are quotes. */
  function read(text: string, start: number, isWhole: boolean): Found | null {
    if (delimiter !== '\t') return readRow(text, start, isWhole, delimiter, false)
    const literal = readRow(text, start, isWhole, delimiter, true)
    if (!literal?.cells || literal.cells.length >= width) return literal
    const quoted = readRow(text, start, isWhole, delimiter, false)
    return quoted === null || quoted.cells?.length === width ? quoted : literal
  }

  return (part, isWhole) => {
    const rows: Line[] = []
    const text = rest + part
    let start = 0
    while (start < text.length && (text.length >= enough || isWhole)) {
      const found = read(text, start, isWhole)
      if (!found) break
      const { end, cells, lines, stray, open } = found
      if (end - start > limit) return [...rows, { line, stop: tooLong }]
      if (open !== undefined)
        return [...rows, { line: line + lines, stop: 'unterminated quote', column: open }]
      line += lines
      if (stray !== undefined) {
        rows.push({
          line,
          problem: 'stray quote',
          column: stray,
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
    // If no row was read, the length to wait for stays the same.
    if (start > 0 || rest.length >= enough) {
      enough = rest.length < LONG ? 0 : Math.min(2 * rest.length, limit + 1)
    }
    return rows
  }
}

/** How much of a text tells its delimiter. */
const SAMPLE_LINES = 20
const SAMPLE_CHARACTERS = 65_536

const median = (numbers: readonly number[]): number =>
  numbers.toSorted((a, b) => a - b)[Math.floor(numbers.length / 2)] ?? 0

/** The delimiter that makes the most columns of the first lines, of the header and of what follows alike; else a comma. */
export function findDelimiter(sample: string): string {
  let best = ','
  let most: readonly [number, number] = [1, 1]
  for (const delimiter of DELIMITERS) {
    const rows = createCsvReader(sample.length, delimiter)(sample, true)
    // A row that this delimiter makes no sense of says nothing of it.
    const widths = rows.flatMap((row) =>
      'cells' in row && Array.isArray(row.cells) ? row.cells.length : [],
    )
    const usual = median(widths)
    const score = [Math.min(widths[0] ?? 0, usual), usual] as const
    if (score[0] > most[0] || (score[0] === most[0] && score[1] > most[1]))
      [best, most] = [delimiter, score]
  }
  return best
}

/** The first lines of a text; null if it may have more of them after what has come. */
function sampleOf(text: string): string | null {
  const begun = text.trimStart()
  let end = 0
  for (let lines = 0; lines < SAMPLE_LINES; lines++) {
    end = findLineEnd(begun, end)
    if (end === begun.length)
      return begun.length < SAMPLE_CHARACTERS ? null : begun.slice(0, SAMPLE_CHARACTERS)
    end += begun.startsWith('\r\n', end) ? 2 : 1
  }
  return begun.slice(0, end)
}

/**
 * Reads rows of at most `limit` characters. `delimiter`: null to find it out from the first lines; `onDelimiter` gets it.
 * Throws what the text throws.
 */
export async function* readCsv(
  text: AsyncIterable<string>,
  limit: number,
  delimiter: string | null,
  onDelimiter: (delimiter: string) => void,
): AsyncGenerator<readonly Line[]> {
  let read: CsvReader | undefined
  let begun = ''

  function start(sample: string): CsvReader {
    const found = delimiter ?? findDelimiter(sample)
    onDelimiter(found)
    return createCsvReader(limit, found)
  }

  for await (const part of text) {
    begun += part
    if (!read) {
      const sample = delimiter === null ? sampleOf(begun) : ''
      if (sample === null) continue
      read = start(sample)
    }
    const rows = read(begun, false)
    begun = ''
    yield rows
    const last = rows.at(-1)
    if (last && 'stop' in last) return
  }
  read ??= start(begun)
  yield read(begun, true)
}
