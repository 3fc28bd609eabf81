// The number of plants, which each commit updates in its own transaction.

import type { Differences } from '../../change-log/check'
import { deletedRows, isDone, type Outcome, putCounts, type Write } from './write'

const ONE_ROW =
  'table plant_count must have one row; run DELETE FROM plant_count; INSERT INTO plant_count (plants) VALUES (0)'

/** The change in the number of plants made by a write with this outcome. */
export function countDelta(write: Write, outcome: Outcome): number {
  if (!isDone(outcome)) return 0
  switch (write.kind) {
    case 'create':
      return 1
    case 'createAll':
      return write.rows.length
    case 'putAll':
      return putCounts(outcome)?.created ?? 0
    case 'deleteAll':
      return -(deletedRows(outcome)?.deleted.length ?? 0)
    case 'delete':
      return -1
    case 'accept':
      return write.uncounted
    default:
      return 0
  }
}

/** Adds the count of plants to the differences of a store. `kept`: the recorded one; null unless it has one row. */
export function compareCount(found: Differences, kept: number | null, plants: number): Differences {
  if (kept !== null) return { ...found, uncounted: plants - kept }
  return { ...found, lines: [...found.lines, ONE_ROW] }
}
