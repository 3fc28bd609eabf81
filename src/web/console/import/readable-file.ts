// Opens a file, whose rows can then be read repeatedly; detects its format and its encoding.

import { OpenError } from '../../../errors.ts'
import { EncodingError, explainEncoding } from '../../../formats/encoding/encoding.ts'
import {
  beginsAsJson,
  checkName,
  type Format,
  formatOfBytes,
  formatToRead,
  SIGNATURE_BYTES,
} from '../../../formats/format.ts'
import type { Line } from '../../../formats/row.ts'
import { checkFile, openTable, type Settings, type Table } from '../../../formats/table.ts'
import { readInThread } from '../../../formats/workbook/thread.ts'
import type { Workbook } from '../../../formats/workbook/workbook.ts'
import { detectInThread } from '../workbooks/detect-encoding.ts'
import { startThread } from '../workbooks/thread.ts'
import { yieldToBrowser } from '../yield.ts'
import { FORM_ADVICE } from './advice.ts'

const ROWS_AT_ONCE = 500
const PART_BYTES = 65_536
const UNKNOWN_KIND = 'this is neither text nor a workbook; choose a CSV, JSON or spreadsheet file'

/** The bytes of a file in parts, between which the page can respond; `onRead` gets the number of each. */
async function* bytesOf(file: Blob, onRead: (bytes: number) => void): AsyncGenerator<Uint8Array> {
  const reader = file.stream().getReader()
  const pause = yieldToBrowser()
  try {
    for (let part = await reader.read(); !part.done; part = await reader.read()) {
      // Browsers read parts of some megabytes, which would block the page.
      for (let at = 0; at < part.value.length; at += PART_BYTES) {
        const bytes = part.value.subarray(at, at + PART_BYTES)
        onRead(bytes.length)
        yield bytes
        await pause()
      }
    }
  } finally {
    await reader.cancel()
  }
}

const headOf = async (file: Blob): Promise<Uint8Array> =>
  new Uint8Array(await file.slice(0, SIGNATURE_BYTES).arrayBuffer())

/** True if a file has a zero byte, which occurs in no text but UTF-16. */
const isBinary = async (file: Blob): Promise<boolean> =>
  new Uint8Array(await file.slice(0, PART_BYTES).arrayBuffer()).includes(0)

/** The format of a file by its first bytes, its name, or its first character. Throws an `OpenError` for unsupported names. */
export async function findFormat(file: File): Promise<Format> {
  const head = await headOf(file)
  const namedFormat = formatToRead(file.name)
  // Other documents are zip archives too.
  if (namedFormat === null) checkName(file.name)
  return formatOfBytes(head) ?? namedFormat ?? (beginsAsJson(head) ? 'json' : 'csv')
}

/** The encoding of a text; null for UTF-8 and UTF-16, or if `problem` says why it is unknown. */
type EncodingResult = { readonly encoding: string | null; readonly problem: string | null }

/** Checks a file whole, and detects its encoding. Throws an `OpenError` if it is of another kind. */
export async function findEncoding(file: Blob, format: Format): Promise<EncodingResult> {
  try {
    await checkFile(format, () => bytesOf(file, () => {}), null, FORM_ADVICE)
    return { encoding: null, problem: null }
  } catch (error) {
    if (!(error instanceof EncodingError)) throw error
    const detection = await detectInThread(error)
    const { encoding } = detection
    if (encoding === null && (await isBinary(file))) throw new OpenError(UNKNOWN_KIND)
    return {
      encoding,
      problem: encoding === null ? explainEncoding(error, detection, FORM_ADVICE) : null,
    }
  }
}

/** A file that was opened: its {@link openTable table}; each call of `rows` reads from the first row. */
export type ReadableFile = {
  readonly table: Omit<Table, 'lines'>
  readonly rows: (onRead?: (bytes: number) => void) => AsyncGenerator<readonly Line[]>
}

/** The last sheet read of each file, so that another header row or column does not read it again. */
const LAST_SHEETS = new WeakMap<Blob, Workbook>()

async function readSheetOnce(
  file: Blob,
  bytes: Uint8Array,
  sheet: string | null,
  signal: AbortSignal,
): Promise<Workbook> {
  const last = LAST_SHEETS.get(file)
  if (last?.sheet === sheet) return last
  const { rows, ...sheets } = await readInThread(startThread(), { bytes, sheet }, signal)
  const workbook = { ...sheets, rows: await Array.fromAsync(rows) }
  if (!signal.aborted) LAST_SHEETS.set(file, workbook)
  return workbook
}

async function* sliceRows(lines: readonly Line[]): AsyncGenerator<readonly Line[]> {
  const pause = yieldToBrowser()
  for (let at = 0; at < lines.length; at += ROWS_AT_ONCE) {
    yield lines.slice(at, at + ROWS_AT_ONCE)
    await pause()
  }
}

/** Opens a file, until `signal` is aborted. Throws an `OpenError` with a fix if it cannot be read. */
export async function openFile(
  file: Blob,
  format: Format,
  settings: Settings,
  signal: AbortSignal,
): Promise<ReadableFile> {
  const open = (onRead: (bytes: number) => void) =>
    openTable(
      format,
      (purpose) => bytesOf(file, purpose === 'read' ? onRead : () => {}),
      settings,
      FORM_ADVICE,
      (bytes, sheet) => readSheetOnce(file, bytes, sheet, signal),
    )
  const { lines, ...table } = await open(() => {})
  if (format === 'xlsx') {
    const all = (await Array.fromAsync(lines)).flat()
    return { table, rows: () => sliceRows(all) }
  }
  return {
    table,
    async *rows(onRead = () => {}) {
      yield* (await open(onRead)).lines
    },
  }
}
