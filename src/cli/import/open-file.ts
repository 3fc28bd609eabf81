// Opens the file of an import as a table, and finds the columns of a plant.

import type { Config } from '../../config/config'
import { OpenError, UsageError } from '../../errors'
import { inputBytes, readInput } from '../../files/input'
import { type Columns, resolveColumns } from '../../formats/columns'
import type { Format } from '../../formats/format'
import { openPlants, type Tools } from '../../formats/opening'
import { Question } from '../../formats/question'
import { showText } from '../../formats/row'
import type { Source } from '../../formats/source'
import type { Table } from '../../formats/table'
import { ofOptionalTexts } from '../../plant/plant'
import { yieldForSignals } from '../terminal/interrupt'
import { answerCommand } from './command-line'
import { readWorkbookInThread } from './workbook-thread'

/** An open file. */
export type ImportFile = {
  readonly table: Table
  readonly columns: Columns
  /** Its length, or null if unknown. */
  readonly bytes: number | null
  /** The bytes read so far. */
  bytesRead(): number
}

/** The sheet or the list that is read, of several, or null if there is only one. */
export function explainChoice({ sheet, sheets, list }: Table): string | null {
  if (list !== null) return `reading the list ${showText(list)}`
  const others = sheets.filter((name) => name !== sheet).map((name) => JSON.stringify(name))
  if (others.length === 0) return null
  return `sheet ${JSON.stringify(sheet)}; use --sheet to read ${others.join(', ')}`
}

/** Throws a `UsageError` for options that do not fit a format, or each other. `format`: null if only the content shows it. */
export function checkOptions(config: Config, format: Format | null): void {
  const isJson = format === null || format === 'json' || format === 'ndjson'
  if (config.delimiter && (format ?? 'csv') !== 'csv')
    throw new UsageError('--delimiter is for CSV')
  if (config.sheet && (format ?? 'xlsx') !== 'xlsx')
    throw new UsageError('--sheet is for workbooks (.xlsx)')
  if (config.encoding && format === 'xlsx')
    throw new UsageError('--encoding is for text, not for workbooks')
  if (config.headerRow !== null && !config.header)
    throw new UsageError('give --header-row or --no-header, not both')
  if (config.list !== null && !isJson) throw new UsageError('--list is for JSON')
  if (config.numberFrom !== null && config.idColumn !== null)
    throw new UsageError('give --id-column or --number-from, not both')
}

// A file without a row has no columns either.
const NO_COLUMNS: Columns = {
  id: null,
  numberFrom: null,
  name: [0],
  ...ofOptionalTexts(() => null),
}

/** Opens a file. Throws an `OpenError` that names it, with the command that reads it if there is one. */
export async function openFile(
  path: string,
  config: Config,
  signal: AbortSignal,
): Promise<ImportFile> {
  let bytesRead = 0
  const bytes = inputBytes(path)
  const read = (purpose: 'inspect' | 'read') =>
    yieldForSignals(
      readInput(path, bytes, signal, (length) => {
        if (purpose === 'read') bytesRead += length
      }),
    )
  // Only a file on a disk can be read from its beginning again.
  const source: Source = bytes === null ? read('read') : read
  const tools: Tools = {
    readBook: (book, sheet) => readWorkbookInThread(book, sheet, signal),
    async detectEncoding(lines) {
      const { detectEncoding } = await import('../../formats/encoding/detect')
      return detectEncoding(lines, (program) => Bun.file(program).arrayBuffer())
    },
  }
  try {
    const table = await openPlants({ name: path, format: config.format, source }, config, tools)
    const columns = table.header.length === 0 ? NO_COLUMNS : resolveColumns(table, config)
    return { table, columns, bytes, bytesRead: () => bytesRead }
  } catch (error) {
    if (!(error instanceof OpenError)) throw error
    const file = path === '-' ? 'standard input' : path
    const answer = error instanceof Question ? `; try: ${answerCommand(path, config, error)}` : ''
    throw new OpenError(`${file}: ${error.message}${answer}`, error.storage)
  }
}
