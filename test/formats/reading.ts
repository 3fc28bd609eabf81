// Reads a text as `plantstore import` does, in this process.

import { COMMAND_ADVICE } from '../../src/formats/advice'
import { resolveColumns } from '../../src/formats/columns'
import { detectEncoding } from '../../src/formats/encoding/detect'
import type { Format } from '../../src/formats/format'
import type { TableHeader } from '../../src/formats/guess'
import { type ColumnOptions, ofColumnOptions } from '../../src/formats/header'
import { openPlants, type Tools } from '../../src/formats/opening'
import { readPlants } from '../../src/formats/plants'
import { type Settings, USUAL_SETTINGS } from '../../src/formats/question'
import { readWorkbook } from '../../src/formats/workbook/workbook'

/** Returns a table with this header, on line 1, and these first rows. */
export const tableOf = (
  header: readonly string[],
  rows: readonly (readonly string[])[],
  isNamed = true,
): TableHeader => ({
  format: 'csv',
  header,
  isNamed,
  isKeyed: false,
  sample: rows.map((cells, row) => ({ line: row + 2, cells })),
  delimiter: null,
  sheets: [],
  sheet: null,
  hiddenRows: 0,
  list: null,
  nullTexts: null,
})

/** Yields a text in parts of `length` bytes. */
export async function* cut(bytes: Uint8Array, length: number) {
  for (let at = 0; at < bytes.length; at += length) yield bytes.subarray(at, at + length)
}

export const USUAL_COLUMNS: ColumnOptions = {
  idColumn: null,
  nameColumn: null,
  numberFrom: null,
  ...ofColumnOptions(() => null),
}

type Options = Partial<ColumnOptions & Settings> & { readonly length?: number }

export const TOOLS: Tools = {
  readBook: readWorkbook,
  detectEncoding: (lines) => detectEncoding(lines, (program) => Bun.file(program).arrayBuffer()),
}

/** Opens a text as a file. */
export const open = (format: Format, text: string | Uint8Array, options: Options = {}) =>
  openPlants(
    { name: '', format, source: () => cut(Buffer.from(text), options.length ?? 1 << 16) },
    { ...USUAL_SETTINGS, ...options },
    TOOLS,
  )

/** Reads the entries of a text, without their rows, and the notices for the user. */
export async function read(format: Format, text: string | Uint8Array, options: Options = {}) {
  const table = await open(format, text, options)
  const choice = { ...USUAL_COLUMNS, ...options }
  const columns = resolveColumns(table, choice)
  const notices: string[] = []
  const parts = readPlants(table, columns, COMMAND_ADVICE, (notice) => notices.push(notice))
  const entries = (await Array.fromAsync(parts)).flat().map((entry) => {
    if ('stop' in entry) return entry
    const { source: _, rowIndex: __, ...rest } = entry
    return rest
  })
  return { notices, entries }
}
