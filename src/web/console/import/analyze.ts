// Reads a whole file without storing anything, for the preview.

import { type Columns, usedColumns } from '../../../formats/columns.ts'
import { createExamples } from '../../../formats/examples.ts'
import { listColumns } from '../../../formats/header.ts'
import { readPlants } from '../../../formats/plants.ts'
import type { Table } from '../../../formats/table.ts'
import type { Plant } from '../../../plant/plant.ts'
import { FORM_ADVICE } from './advice.ts'
import type { Compare, Comparison, NotCompared } from './compare.ts'
import type { OpenedFile } from './file.ts'

const PLANTS_SHOWN = 5
const PROBLEMS_SHOWN = 3
const COMPARED_TOGETHER = 1000

export type Problem = { readonly line: number; readonly problem: string }

export type Analysis = {
  /** Some of the valid plants. */
  readonly examples: readonly Plant[]
  readonly rows: number
  readonly refused: number
  /** The first ones. */
  readonly problems: readonly Problem[]
  /** The line from which the file cannot be read, and the reason. */
  readonly notRead: string | null
  readonly notices: readonly string[]
  /** The comparison with the stored plants; null: not yet known. */
  readonly compared: Comparison | NotCompared | null
  readonly isWhole: boolean
}

/** The columns that are not used, in words; null: all are. */
export function unusedColumns({ header, isNamed }: Omit<Table, 'lines'>, columns: Columns) {
  const used = usedColumns(columns)
  const places = [...header.keys()].filter((place) => !used.has(place))
  return isNamed && places.length > 0 ? `columns not used: ${listColumns(header, places)}` : null
}

export const notReadFrom = (line: number, why: string): string => `from line ${line} on: ${why}`

/** Yields interim results, then the whole one. Throws an `OpenError` if the file cannot be read. */
export async function* analyze(
  { table, rows }: OpenedFile,
  columns: Columns,
  compare: Compare,
): AsyncGenerator<Analysis> {
  const examples = createExamples(PLANTS_SHOWN)
  const problems: Problem[] = []
  const notices: string[] = []
  let read = 0
  let refused = 0
  let notRead: string | null = null
  let compared: Analysis['compared'] = null
  let waiting: Plant[] = []
  const soFar = (isWhole: boolean): Analysis => ({
    examples: examples.list(),
    rows: read,
    refused,
    problems: [...problems],
    notRead,
    notices: [...notices],
    compared,
    isWhole,
  })
  const entries = readPlants({ ...table, lines: rows() }, columns, FORM_ADVICE, (notice) =>
    notices.push(notice),
  )
  for await (const part of entries) {
    for (const entry of part) {
      if ('stop' in entry) {
        notRead = notReadFrom(entry.line, entry.stop)
        continue
      }
      read += 1
      if ('plant' in entry) {
        waiting.push(entry.plant)
        examples.add(entry.plant)
        continue
      }
      refused += 1
      if (problems.length < PROBLEMS_SHOWN) problems.push(entry)
    }
    if (waiting.length >= COMPARED_TOGETHER) {
      compared = await compare(waiting, columns)
      waiting = []
    }
    if (part.length > 0) yield soFar(false)
  }
  compared = await compare(waiting, columns)
  yield soFar(true)
}
