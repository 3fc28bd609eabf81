// A file of plants, opened: its rows, what their columns are called, and how they were told apart.

import { OpenError } from '../errors'
import { MAX_BODY_BYTES } from '../plant/json'
import { readCsv } from './csv'
import { decodeText, joinFirst, prepend } from './encoding'
import { checkSignature, type Format, SIGNATURE_BYTES } from './format'
import { readJson } from './json'
import type { Line, Row } from './row'
import { readWorkbook } from './spreadsheet'
import { optionWords, type Words } from './words'

/** How a file is read; null: as its first bytes and lines suggest. */
export type Settings = {
  readonly encoding: string | null
  readonly delimiter: string | null
  readonly sheet: string | null
  /** True if the first row names the columns. */
  readonly hasHeader: boolean
}

export const USUAL_SETTINGS: Settings = {
  encoding: null,
  delimiter: null,
  sheet: null,
  hasHeader: true,
}

export type Table = {
  readonly format: Format
  /** What the columns are called: by the header, or the keys of the first values; '' for each if there is no header. */
  readonly header: readonly string[]
  /** True if the columns have names. */
  readonly isNamed: boolean
  /** The first rows, for a guess and a preview. */
  readonly sample: readonly Row[]
  /** All rows, those that are read together in one array. They can be read once. */
  readonly lines: AsyncIterable<readonly Line[]>
  /** Of CSV. */
  readonly delimiter: string | null
  /** Of a workbook. */
  readonly sheets: readonly string[]
  readonly sheet: string | null
}

// A plant's row is about as long as the body that created it.
const MAX_ROW = MAX_BODY_BYTES + 1024
const SAMPLE_ROWS = 1000
const SAMPLE_PARTS = 16

/** Reads the first rows, and gives them again before the others. */
async function peek(lines: AsyncIterator<readonly Line[]>) {
  const first: (readonly Line[])[] = []
  let count = 0
  let isOver = false
  while (!isOver && count < SAMPLE_ROWS && first.length < SAMPLE_PARTS) {
    const { value, done } = await lines.next()
    isOver = done === true
    if (!value) continue
    first.push(value)
    count += value.length
  }
  async function* all(): AsyncGenerator<readonly Line[]> {
    yield* first
    for (let next = await lines.next(); !next.done; next = await lines.next()) yield next.value
  }
  return { first: first.flat(), all }
}

const isRow = (line: Line): line is Row => 'cells' in line

const textOf = (cell: unknown): string =>
  cell === null ? '' : typeof cell === 'string' ? cell : String((cell as { number: string }).number)

/** The keys of objects, in the order in which they come. */
const keysOf = (rows: readonly Row[]): string[] => [
  ...new Set(rows.flatMap(({ cells }) => Object.keys(cells))),
]

/** Leaves the first row out, which is the header. */
async function* withoutFirst(
  lines: AsyncIterable<readonly Line[]>,
): AsyncGenerator<readonly Line[]> {
  let isLeft = false
  for await (const part of lines) {
    yield isLeft || part.length === 0 ? part : part.slice(1)
    isLeft ||= part.length > 0
  }
}

/** Opens a file. Throws an `OpenError` that says what to do if it is of another kind, in another encoding, or damaged. */
export async function openTable(
  format: Format,
  stream: AsyncIterable<Uint8Array>,
  settings: Settings = USUAL_SETTINGS,
  words: Words = optionWords,
): Promise<Table> {
  const { encoding, hasHeader } = settings
  const parts = joinFirst(stream, SIGNATURE_BYTES)
  const head = await parts.next()
  const bytes = head.done ? parts : prepend(head.value, parts)
  if (!head.done) checkSignature(format, head.value, words)
  let delimiter: string | null = null
  let sheets: readonly string[] = []
  let sheet: string | null = null

  async function open(): Promise<AsyncGenerator<readonly Line[]>> {
    if (format === 'json' || format === 'ndjson') return readJson(bytes, MAX_ROW, encoding, words)
    if (format === 'csv') {
      return readCsv(decodeText(bytes, encoding, words), MAX_ROW, settings.delimiter, (it) => {
        delimiter = it
      })
    }
    const workbook = await readWorkbook(bytes, settings.sheet)
    ;({ sheets, sheet } = workbook)
    return (async function* () {
      yield workbook.rows
    })()
  }

  const { first, all } = await peek(await open())
  const rows = first.filter(isRow)
  const table = { format, delimiter, sheets, sheet }
  if (format === 'json' || format === 'ndjson') {
    return { ...table, header: keysOf(rows), isNamed: true, sample: rows, lines: all() }
  }
  const top = first[0]
  if (hasHeader && top && !isRow(top)) {
    const { column = 0 } = top
    throw new OpenError(
      `${'stop' in top ? top.stop : top.problem} in column ${column + 1} of the header`,
    )
  }
  if (hasHeader && top && isRow(top)) {
    const header = (top.cells as readonly unknown[]).map(textOf)
    return { ...table, header, isNamed: true, sample: rows.slice(1), lines: withoutFirst(all()) }
  }
  const width = Math.max(
    0,
    ...rows.slice(0, SAMPLE_ROWS).map(({ cells }) => (cells as readonly unknown[]).length),
  )
  return { ...table, header: Array(width).fill(''), isNamed: false, sample: rows, lines: all() }
}
