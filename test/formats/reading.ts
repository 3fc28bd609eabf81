// Reads a text as `plantstore import` would, without a program.

import { COMMAND_ADVICE } from '../../src/formats/advice'
import { resolveColumns } from '../../src/formats/columns'
import type { Format } from '../../src/formats/format'
import { type ColumnOptions, ofColumnOptions } from '../../src/formats/header'
import { readPlants } from '../../src/formats/plants'
import { openTable, type Settings, USUAL_SETTINGS } from '../../src/formats/table'
import { readWorkbook } from '../../src/formats/workbook/workbook'

/** A text as a stream in parts of `length` bytes. */
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

/** Opens a text. */
export const open = (format: Format, text: string | Uint8Array, options: Options = {}) =>
  openTable(
    format,
    () => cut(Buffer.from(text), options.length ?? 1 << 16),
    { ...USUAL_SETTINGS, ...options },
    COMMAND_ADVICE,
    readWorkbook,
  )

/** The entries of a text, without their rows, and what a user should know about it. */
export async function read(format: Format, text: string | Uint8Array, options: Options = {}) {
  const table = await open(format, text, options)
  const choice = { ...USUAL_COLUMNS, ...options }
  const columns = resolveColumns(table.header, table.sample, choice, table.isNamed)
  const notices: string[] = []
  const parts = readPlants(table, columns, COMMAND_ADVICE, (notice) => notices.push(notice))
  const entries = (await Array.fromAsync(parts)).flat().map((entry) => {
    if ('stop' in entry) return entry
    const { source: _, rowIndex: __, ...rest } = entry
    return rest
  })
  return { notices, entries }
}
