// Reads a whole file for the preview, and stores nothing.

import { type Columns, usedColumns } from '../../../formats/columns.ts'
import { createExamples } from '../../../formats/examples.ts'
import { listColumns } from '../../../formats/header.ts'
import { readPlants } from '../../../formats/plants.ts'
import { findUnmapped, type RowUpdate, updateOf } from '../../../formats/row-update.ts'
import type { Table } from '../../../formats/table.ts'
import type { Plant } from '../../../plant/plant.ts'
import { FORM_ADVICE, reasonOf } from './advice.ts'
import type { Compare, Comparison } from './compare.ts'
import type { ReadableFile } from './readable-file.ts'

const PLANTS_SHOWN = 5
const PROBLEMS_SHOWN = 3
const COMPARED_AT_ONCE = 1000

export type Problem = { readonly line: number; readonly problem: string }

export type Analysis = {
  /** Some of the valid plants. */
  readonly examples: readonly Plant[]
  readonly rows: number
  readonly refused: number
  /** The first ones. */
  readonly problems: readonly Problem[]
  /** The line from which the file cannot be read, and the reason. */
  readonly unreadReason: string | null
  readonly notices: readonly string[]
  /** The comparison with the stored plants, or null if not yet known. */
  readonly comparison: Comparison | 'failed' | null
  readonly isWhole: boolean
}

/** The notice about unused columns, or null if all are used. */
export function unusedColumns({ header, isNamed }: Omit<Table, 'lines'>, columns: Columns) {
  const usedIndexes = usedColumns(columns)
  const unusedIndexes = [...header.keys()].filter((column) => !usedIndexes.has(column))
  return isNamed && unusedIndexes.length > 0
    ? `columns not used: ${listColumns(header, unusedIndexes)}`
    : null
}

export const explainStop = (line: number, why: string): string => `from line ${line} on: ${why}`

/** The reason that no rows were read after the first ones. */
export const explainRest = (rows: number, why: string): string =>
  rows === 0 ? why : `the rest: ${why}`

/** Yields interim results, then the last one. */
export async function* analyze(
  { table, rows }: ReadableFile,
  columns: Columns,
  compare: Compare,
): AsyncGenerator<Analysis> {
  const examples = createExamples(PLANTS_SHOWN)
  const problems: Problem[] = []
  const notices: string[] = []
  let rowCount = 0
  let refusedCount = 0
  let unreadReason: string | null = null
  let comparison: Analysis['comparison'] = null
  let updates: RowUpdate[] = []
  const unmappedTexts = findUnmapped(columns)
  const snapshot = (isWhole: boolean): Analysis => ({
    examples: examples.list(),
    rows: rowCount,
    refused: refusedCount,
    problems: [...problems],
    unreadReason,
    notices: [...notices],
    comparison,
    isWhole,
  })
  const entries = readPlants({ ...table, lines: rows() }, columns, FORM_ADVICE, (notice) =>
    notices.push(notice),
  )
  try {
    for await (const part of entries) {
      for (const entry of part) {
        if ('stop' in entry) {
          unreadReason = explainStop(entry.line, entry.stop)
          continue
        }
        rowCount += 1
        if ('plant' in entry) {
          updates.push(updateOf(entry, unmappedTexts))
          examples.add(entry.plant)
          continue
        }
        refusedCount += 1
        if (problems.length < PROBLEMS_SHOWN) problems.push(entry)
      }
      if (updates.length >= COMPARED_AT_ONCE) {
        comparison = await compare(updates)
        updates = []
      }
      if (part.length > 0) yield snapshot(false)
    }
    comparison = await compare(updates)
  } catch (error) {
    unreadReason = explainRest(rowCount, reasonOf(error))
  }
  yield snapshot(true)
}
