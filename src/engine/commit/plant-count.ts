// The number of plants, which each commit updates in its own transaction.

import { deletedRows, isDone, type Outcome, putCounts, type Write } from './write'

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
    default:
      return 0
  }
}

/** Problems of the recorded number of plants. Only another program can have made it wrong. */
export function countProblems(kept: number | null, plants: number): string[] {
  if (kept === plants) return []
  if (kept === null) return ['table plant_count must have one row']
  const by = plants < kept ? `- ${kept - plants}` : `+ ${plants - kept}`
  return [
    `the recorded number of plants is ${kept}, but ${plants} are stored; run UPDATE plant_count SET plants = plants ${by}`,
  ]
}
