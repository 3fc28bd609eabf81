// Stored rows in memory, with what a batch makes of them laid over, until the net of it is written.

import { isSame, type PlantRow, type RowId } from '../../../plant/row'
import type { State } from '../../commit/decide'
import { isDone } from '../../commit/write'

/** Stored rows by id. */
export type Rows = ReadonlyMap<RowId, PlantRow>

/** What a batch comes to: new rows, rows with other fields, and removed rows. */
export type Net = {
  readonly inserted: readonly PlantRow[]
  readonly updated: readonly PlantRow[]
  readonly deleted: readonly RowId[]
  /** Plants that it made and removed again. */
  readonly passed: readonly RowId[]
}

/** A state over what `below` reads; `changed` has each row that was written since, null for one that was removed. */
export function overlay(below: (id: RowId) => PlantRow | null) {
  const changed = new Map<RowId, PlantRow | null>()
  const read = (id: RowId): PlantRow | null => {
    const row = changed.get(id)
    return row === undefined ? below(id) : row
  }
  const state: State = {
    read,
    insert(row) {
      if (read(row[0])) return false
      changed.set(row[0], row)
      return true
    },
    update: (row) => void changed.set(row[0], row),
    remove: (id) => void changed.set(id, null),
    allOrNone(act) {
      const within = overlay(read)
      const outcome = act(within.state)
      if (isDone(outcome)) for (const [id, row] of within.changed) changed.set(id, row)
      return outcome
    },
  }
  return { state, changed }
}

/** What is to be written, so that stored rows become those of an overlay. */
export function netOf(changed: ReadonlyMap<RowId, PlantRow | null>, stored: Rows): Net {
  const inserted: PlantRow[] = []
  const updated: PlantRow[] = []
  const deleted: RowId[] = []
  const passed: RowId[] = []
  for (const [id, row] of changed) {
    const before = stored.get(id)
    if (!row) (before ? deleted : passed).push(id)
    else if (!before) inserted.push(row)
    else if (!isSame(row, before)) updated.push(row)
  }
  return { inserted, updated, deleted, passed }
}
