// Opens the file of an import as a table, and finds the columns of a plant.

import type { Config } from '../../config/config'
import { OpenError, UsageError } from '../../errors'
import { type Input, openInput, readInput } from '../../files/input'
import { type Advice, COMMAND_ADVICE } from '../../formats/advice'
import { type Columns, ColumnsError, resolveColumns } from '../../formats/columns'
import { EncodingError, explainEncoding } from '../../formats/encoding/encoding'
import {
  beginsAsJson,
  checkName,
  checkSignature,
  type Format,
  SIGNATURE_BYTES,
} from '../../formats/format'
import { settingsOf } from '../../formats/guess'
import { showText } from '../../formats/row'
import type { Source } from '../../formats/source'
import { checkFile, openTable, type Table } from '../../formats/table'
import type { WorkbookReader } from '../../formats/workbook/workbook'
import { ofOptionalTexts } from '../../plant/plant'
import { countOf } from '../count'
import { yieldForSignals } from '../terminal/interrupt'
import { adviceFor, guessOptions, importCommand } from './command-line'
import { readWorkbookInThread } from './workbook-thread'

const DELIMITER_NAMES: Readonly<Record<string, string>> = {
  ',': 'comma',
  ';': 'semicolon',
  '\t': 'tab',
  '|': 'bar',
}

/** An open file. */
export type ImportFile = {
  readonly table: Table
  readonly columns: Columns
  /** Its length; null: not known. */
  readonly bytes: number | null
  /** The bytes read so far. */
  bytesRead(): number
}

const listSheets = ({ sheets, sheet }: Table): string =>
  sheets
    .filter((name) => name !== sheet)
    .map((name) => JSON.stringify(name))
    .join(', ')

/** The sheet or the list that is read, of several; null: there is only one. */
export function explainChoice(table: Table): string | null {
  const { sheet, sheets, list } = table
  if (list !== null) return `reading the list ${showText(list)}`
  if (sheets.every((name) => name === sheet)) return null
  return `sheet ${JSON.stringify(sheet)}; use --sheet to read ${listSheets(table)}`
}

/** The notice that hidden rows are read too; null: there are none. */
export function explainHidden({ hiddenRows }: Table): string | null {
  if (hiddenRows === 0) return null
  return `${countOf(hiddenRows, 'hidden row')} of the sheet ${hiddenRows === 1 ? 'is' : 'are'} read too`
}

/** The delimiter, sheet or list of a table, and the option that changes it. */
function describe(table: Table): string {
  const { delimiter } = table
  if (delimiter !== null) {
    const name = DELIMITER_NAMES[delimiter] ?? JSON.stringify(delimiter)
    return ` (${name}-separated; change with --delimiter)`
  }
  if (table.list !== null) return ` in the list ${showText(table.list)}`
  const choice = explainChoice(table)
  return choice === null ? '' : ` in ${choice}`
}

function findColumns(path: string, table: Table, config: Config): Columns {
  try {
    return resolveColumns(table.header, table.sample, config, table.isNamed, describe(table))
  } catch (error) {
    if (!(error instanceof ColumnsError)) throw error
    const { guess } = error
    const options =
      guess.list === undefined
        ? guessOptions(guess, config, table.header)
        : settingsOf(guess, table)
    throw new OpenError(`${error.message}; try: ${importCommand(path, config, options)}`)
  }
}

/** Prefixes the message of an `OpenError` with the file's name. */
function withName(path: string, error: unknown): unknown {
  if (!(error instanceof OpenError)) return error
  const file = path === '-' ? 'standard input' : path
  return new OpenError(`${file}: ${error.message}`, error.storage)
}

/** Explains an error of the encoding by the detected one; other errors are unchanged. */
async function withEncoding(error: unknown, advice: Advice): Promise<unknown> {
  if (!(error instanceof EncodingError)) return error
  const { detectEncoding } = await import('../../formats/encoding/detect')
  const detection = await detectEncoding(error, (program) => Bun.file(program).arrayBuffer())
  return new OpenError(explainEncoding(error, detection, advice))
}

/** The format of a file whose name does not tell it, by its first bytes. Throws an error with a fix if they do not either. */
export async function findFormat(path: string): Promise<Format> {
  // An input without a length can be read only once.
  const isFile = openInput(path).bytes !== null
  try {
    checkName(path)
    const head = isFile ? await Bun.file(path).slice(0, SIGNATURE_BYTES).bytes() : new Uint8Array()
    checkSignature('csv', head, COMMAND_ADVICE)
    if (beginsAsJson(head)) return 'json'
  } catch (error) {
    throw withName(path, error)
  }
  throw new UsageError(
    path === '-'
      ? 'unknown format; add --format csv, ndjson, json or xlsx'
      : `unknown format; rename ${path} to end in .csv, .ndjson, .json or .xlsx, or add --format`,
  )
}

/** Opens a table and finds its columns. Throws an `OpenError` that names the file. */
async function openColumns(
  path: string,
  format: Format,
  source: Source,
  config: Config,
  signal: AbortSignal,
) {
  const readBook: WorkbookReader = (book, sheet) => readWorkbookInThread(book, sheet, signal)
  const advice = adviceFor(path, config)
  try {
    const settings = { ...config, hasHeader: config.header, nullTexts: config.null }
    if (typeof source === 'function') await checkFile(format, source, config.encoding, advice)
    const table = await openTable(format, source, settings, advice, readBook)
    // The plants may well be in another one.
    if (table.header.length === 0 && table.sheets.length > 1) {
      throw new OpenError(
        `the sheet ${JSON.stringify(table.sheet)} is empty; use --sheet to read ${listSheets(table)}`,
      )
    }
    // A file without a row has no columns either.
    const isEmpty = table.header.length === 0
    const none: Columns = { id: null, numberFrom: null, name: [0], ...ofOptionalTexts(() => null) }
    return { table, columns: isEmpty ? none : findColumns(path, table, config) }
  } catch (error) {
    throw withName(path, await withEncoding(error, advice))
  }
}

/** Opens a file whose input is open. Throws an `OpenError` that names it. */
export async function openFile(
  path: string,
  format: Format,
  input: Input,
  config: Config,
  signal: AbortSignal,
): Promise<ImportFile> {
  let bytesRead = 0
  const readFrom = (file: Input, purpose: 'inspect' | 'read') =>
    yieldForSignals(
      readInput(file, path, signal, (length) => {
        if (purpose === 'read') bytesRead += length
      }),
    )
  // Only a file on a disk can be read from its beginning again.
  const source: Source =
    input.bytes === null ? readFrom(input, 'read') : (purpose) => readFrom(openInput(path), purpose)
  const { table, columns } = await openColumns(path, format, source, config, signal)
  return { table, columns, bytes: input.bytes, bytesRead: () => bytesRead }
}

/** Throws a `UsageError` for options that do not fit a format, or each other. */
export function checkOptions(config: Config, format: Format): void {
  const isJson = format === 'json' || format === 'ndjson'
  if (config.delimiter && format !== 'csv') throw new UsageError('--delimiter is for CSV')
  if (config.sheet && format !== 'xlsx') throw new UsageError('--sheet is for workbooks (.xlsx)')
  if (config.encoding && format === 'xlsx') {
    throw new UsageError('--encoding is for text, not for workbooks')
  }
  if (config.headerRow !== null && !config.header) {
    throw new UsageError('give --header-row or --no-header, not both')
  }
  if (config.list !== null && !isJson) throw new UsageError('--list is for JSON')
  if (config.numberFrom !== null && config.idColumn !== null) {
    throw new UsageError('give --id-column or --number-from, not both')
  }
}
