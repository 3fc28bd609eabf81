// Opens a file, whose rows can then be read repeatedly.

import { openPlants, type Tools } from '../../../formats/opening.ts'
import type { Settings } from '../../../formats/question.ts'
import type { Line } from '../../../formats/row.ts'
import { openTable, type Table } from '../../../formats/table.ts'
import { readInThread } from '../../../formats/workbook/thread.ts'
import type { Workbook } from '../../../formats/workbook/workbook.ts'
import { detectInThread } from '../workbooks/detect-encoding.ts'
import { startThread } from '../workbooks/thread.ts'
import { yieldToBrowser } from '../yield.ts'

const ROWS_AT_ONCE = 500
const PART_BYTES = 65_536

/** The bytes of a file in parts, between which the page can respond; `onRead` gets the number of each. */
async function* bytesOf(
  file: Blob,
  onRead: (bytes: number) => void = () => {},
): AsyncGenerator<Uint8Array> {
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

/** A file that was opened: its {@link openPlants table}; each call of `rows` reads from the first row. */
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

/** Opens a file, until `signal` is aborted; see {@link openPlants}. */
export async function openFile(
  file: File,
  settings: Settings,
  signal: AbortSignal,
): Promise<ReadableFile> {
  const tools: Tools = {
    readBook: (bytes, sheet) => readSheetOnce(file, bytes, sheet, signal),
    detectEncoding: detectInThread,
  }
  const input = { name: file.name, format: null, source: () => bytesOf(file) }
  const { lines, ...table } = await openPlants(input, settings, tools)
  if (table.format === 'xlsx') {
    const all = (await Array.fromAsync(lines)).flat()
    return { table, rows: () => sliceRows(all) }
  }
  return {
    table,
    async *rows(onRead) {
      const open = (purpose: 'inspect' | 'read') =>
        bytesOf(file, purpose === 'read' ? onRead : undefined)
      yield* (await openTable(table.format, open, settings, tools.readBook)).lines
    },
  }
}
