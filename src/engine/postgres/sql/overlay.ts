// Stored rows in memory, overlaid with the changes of a batch until their net effect is written.

import { isSame, type PlantRow, type RowId } from '../../../plant/row'
import type { State } from '../../commit/kinds'
import { isDone, type Refusal, type Report } from '../../commit/write'

/** Stored rows by id. */
export type Rows = ReadonlyMap<RowId, PlantRow>

/** The net effect of a batch: new, changed and removed rows. */
export type Net = {
  readonly inserted: readonly PlantRow[]
  readonly updated: readonly PlantRow[]
  readonly deleted: readonly RowId[]
  /** Plants that the batch both created and removed. */
  readonly transient: readonly RowId[]
}

/** A state on top of the rows that `below` reads; `changed` has each row written since, null for a removed one. */
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
    allOrNone<T extends Report>(change: (state: State) => Refusal | T) {
      const nested = overlay(read)
      const outcome = change(nested.state)
      if (isDone(outcome)) for (const [id, row] of nested.changed) changed.set(id, row)
      return outcome
    },
  }
  return { state, changed }
}

/** The writes that turn the stored rows into those of an overlay. */
export function netOf(changed: ReadonlyMap<RowId, PlantRow | null>, storedRows: Rows): Net {
  const inserted: PlantRow[] = []
  const updated: PlantRow[] = []
  const deleted: RowId[] = []
  const transient: RowId[] = []
  for (const [id, row] of changed) {
    const storedRow = storedRows.get(id)
    if (!row) (storedRow ? deleted : transient).push(id)
    else if (!storedRow) inserted.push(row)
    else if (!isSame(row, storedRow)) updated.push(row)
  }
  return { inserted, updated, deleted, transient }
}
