// Plants as CSV (RFC 4180) with a header, read and written as `plantstore import` and `plantstore export` do.

import type { NewPlant } from '../../client/client.ts'
import { parseId } from './field-errors.ts'
import { FileError, type RawEntry } from './raw-entry.ts'

type Cell = { readonly text: string; readonly isQuoted: boolean }
type CsvRecord = { readonly line: number; readonly cells: readonly Cell[] }

const LONGEST_RECORD = 64 * 1024 * 1024
const REST = 'the rest of the file was not read'
const SEPARATORS = [
  [';', 'semicolons'],
  ['\t', 'tabs'],
] as const

/** Reading stops here: the quotes leave open where the record ends. */
class QuoteError extends Error {
  constructor(
    readonly line: number,
    message: string,
  ) {
    super(message)
  }
}

type Splitter = ReturnType<typeof createSplitter>

/** Splits text into records: push parts, and take the records completed so far. */
function createSplitter() {
  let line = 1
  let records: CsvRecord[] = []
  let cells: Cell[] = []
  let text = ''
  // Where the next character is: outside quotes, inside them, or after a quote that may have closed them.
  let place: 'plain' | 'quoted' | 'closed' = 'plain'
  let isQuoted = false
  let isAfterReturn = false

  function endCell(): void {
    cells.push({ text, isQuoted })
    text = ''
    isQuoted = false
    place = 'plain'
  }

  function endRecord(): void {
    const isBlank = cells.length === 0 && text === '' && !isQuoted
    if (isBlank) return
    endCell()
    records.push({ line, cells })
    cells = []
  }

  function takeQuote(): void {
    if (place === 'plain' && text !== '') throw new QuoteError(line, `stray quote; ${REST}`)
    if (place === 'closed') text += '"'
    isQuoted = true
    place = place === 'quoted' ? 'closed' : 'quoted'
  }

  function takeOther(character: string, isBreak: boolean): void {
    if (place === 'quoted') text += character
    else if (character === ',') endCell()
    else if (isBreak) endRecord()
    else if (place === 'closed') throw new QuoteError(line, `stray quote; ${REST}`)
    else text += character
  }

  function take(character: string): void {
    // The LF of CRLF does not end another record; in quotes it is text.
    const isSecond = character === '\n' && isAfterReturn
    const isBreak = character === '\n' || character === '\r'
    isAfterReturn = character === '\r'
    if (character === '"') takeQuote()
    else if (!isSecond || place === 'quoted') takeOther(character, isBreak)
    if (isBreak && !isSecond) line += 1
    if (text.length > LONGEST_RECORD) throw new QuoteError(line, `too long; ${REST}`)
  }

  function taken(): CsvRecord[] {
    const found = records
    records = []
    return found
  }

  return {
    taken,
    push(part: string): void {
      for (const character of part) take(character)
    },
    end(): void {
      if (place === 'quoted') throw new QuoteError(line, `unterminated quote; ${REST}`)
      endRecord()
    },
  }
}

/** The records completed by a step, even if it throws. */
function* recordsOf({ taken }: Splitter, step: () => void): Generator<CsvRecord> {
  let error: unknown
  try {
    step()
  } catch (caught) {
    error = caught
  }
  yield* taken()
  if (error !== undefined) throw error
}

async function* readRecords(text: AsyncIterable<string>): AsyncGenerator<CsvRecord> {
  const splitter = createSplitter()
  for await (const part of text) yield* recordsOf(splitter, () => splitter.push(part))
  yield* recordsOf(splitter, splitter.end)
}

function readHeader(cells: readonly Cell[]): string[] {
  const names = cells.map(({ text }) => text.trim().toLowerCase())
  const count = (column: string) => names.filter((name) => name === column).length
  if (count('id') === 1 && count('name') === 1 && count('tag') <= 1) return names
  const used = SEPARATORS.find(([separator]) => cells.some(({ text }) => text.includes(separator)))
  const hint = used ? `; this file seems to use ${used[1]}, save it with commas` : ''
  throw new FileError(`header must be id,name[,tag]${hint}`)
}

// An empty tag without quotes means no tag.
function toValue(names: readonly string[], cells: readonly Cell[]): unknown {
  const cell = (name: string) => cells[names.indexOf(name)]
  const id = cell('id')?.text ?? ''
  const tag = cell('tag')
  return {
    id: id === id.trim() ? (parseId(id) ?? id) : id,
    name: cell('name')?.text,
    tag: tag?.text === '' && !tag.isQuoted ? undefined : tag?.text,
  }
}

/** Reads the records of a text, up to a stray or unterminated quote. */
export async function* readCsv(text: AsyncIterable<string>): AsyncGenerator<RawEntry> {
  let names: string[] | undefined
  try {
    for await (const { line, cells } of readRecords(text)) {
      if (!names) names = readHeader(cells)
      else if (cells.length === names.length) yield { line, value: toValue(names, cells) }
      else yield { line, problem: 'not as many fields as the header has' }
    }
  } catch (error) {
    if (!(error instanceof QuoteError)) throw error
    yield { line: error.line, problem: error.message }
  }
}

const csvField = (text: string): string =>
  text === '' || /[",\r\n]|^\s|\s$|^\ufeff/.test(text) ? `"${text.replaceAll('"', '""')}"` : text

/** The header of a CSV file of plants. */
export const csvHeader = 'id,name,tag\n'

/** A plant as a line. An empty tag is quoted, to tell it from no tag. */
export const csvLine = ({ id, name, tag }: NewPlant): string =>
  `${id},${csvField(name)},${tag === undefined ? '' : csvField(tag)}\n`
