// The recorded number of plants, which each commit updates in its own transaction.

import type { Differences } from '../../change-log/check'

const ONE_ROW =
  'table plant_count must have one row; run DELETE FROM plant_count; INSERT INTO plant_count (plants) VALUES (0)'

/** Adds the count of plants to the differences of a store. `kept`: the recorded one; null unless it has one row. */
export function compareCount(found: Differences, kept: number | null, plants: number): Differences {
  if (kept !== null) return { ...found, uncounted: plants - kept }
  return { ...found, lines: [...found.lines, ONE_ROW] }
}
