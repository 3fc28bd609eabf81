// Decides the outcome of a change and the rows that it writes, for every engine.

import type { NewEntry } from '../../change-log/entry'
import { holds } from '../../plant/entity-tag'
import type { Origin } from '../../plant/plants'
import { isSame, type PlantRow, patchRow, type RowId, toPlant } from '../../plant/row'
import {
  type Accept,
  type DeleteAll,
  DONE,
  isDone,
  type Outcome,
  type PlantWrite,
  type PutAll,
  type Refusal,
  type WriteOfStored,
} from './write'

/** The stored rows, as the changes before have left them. */
export type State = {
  read(id: RowId): PlantRow | null
  /** Adds a row; false, and nothing changes, if its id is taken. */
  insert(row: PlantRow): boolean
  update(row: PlantRow): void
  remove(id: RowId): void
  /** Undoes what `act` has changed if it ends with a refusal. */
  allOrNone(act: (state: State) => Refusal | typeof DONE): Refusal | typeof DONE
}

/** The refusal of a row whose id is taken by a stored row. */
export const refuseCreate = (row: PlantRow, stored: PlantRow | null): Refusal => ({
  error: stored && isSame(row, stored) ? 'stored already' : 'taken',
})

const create = (row: PlantRow, state: State): Refusal | typeof DONE =>
  state.insert(row) ? DONE : refuseCreate(row, state.read(row[0]))

function createAll(rows: readonly PlantRow[], state: State): Refusal | typeof DONE {
  for (const [index, row] of rows.entries()) {
    const outcome = create(row, state)
    if (isDone(outcome)) continue
    const { error } = outcome
    const reason =
      error === 'stored already'
        ? 'is already stored, with the same fields'
        : 'belongs to a different plant'
    return { error, message: `nothing was created: plants[${index}], id ${row[0]} ${reason}` }
  }
  return DONE
}

function putAll({ rows, origin }: PutAll, state: State, changeLog?: NewEntry[]): Outcome {
  const put = { created: 0, replaced: 0, unchanged: 0 }
  const entries: NewEntry[] = []
  const outcome = state.allOrNone((within) => {
    for (const row of rows) {
      const before = within.read(row[0])
      if (!before) {
        // Only a trigger of another program discards it.
        if (!within.insert(row)) return { error: 'unexpected' }
        put.created += 1
        if (changeLog) entries.push(creation(row, origin))
      } else if (isSame(row, before)) put.unchanged += 1
      else {
        within.update(row)
        put.replaced += 1
        if (changeLog) entries.push(replacement(before, row, origin))
      }
    }
    return DONE
  })
  if (!isDone(outcome)) return outcome
  for (const entry of entries) changeLog?.push(entry)
  return { put }
}

function deleteAll({ rows, origin }: DeleteAll, state: State, changeLog?: NewEntry[]): Outcome {
  const found = { deleted: [] as RowId[], changed: [] as RowId[], missing: [] as RowId[] }
  const entries: NewEntry[] = []
  const outcome = state.allOrNone((within) => {
    for (const row of rows) {
      const [plant] = row
      const before = within.read(plant)
      if (!before) found.missing.push(plant)
      else if (!isSame(row, before)) found.changed.push(plant)
      else {
        within.remove(plant)
        found.deleted.push(plant)
        entries.push({ action: 'delete', plant, before, after: null, origin })
      }
    }
    return DONE
  })
  if (!isDone(outcome)) return outcome
  for (const entry of entries) changeLog?.push(entry)
  return { deletes: found }
}

/** A plant that was changed after the edit was found has an entry of that change. */
function accept({ edits, origin }: Accept, state: State, changeLog?: NewEntry[]): typeof DONE {
  for (const { id, logged, stored } of edits) {
    const found = state.read(id)
    const isAsFound = found && stored ? isSame(found, stored) : found === stored
    if (!isAsFound) continue
    const action = stored ? (logged ? 'replace' : 'create') : 'delete'
    changeLog?.push({ action, plant: id, before: logged, after: stored, origin })
  }
  return DONE
}

/** The id of the plant that a change concerns. */
const idOf = (change: WriteOfStored): RowId =>
  change.kind === 'replace' ? change.row[0] : change.id

function rowAfter(change: WriteOfStored, before: PlantRow): PlantRow | null {
  switch (change.kind) {
    case 'replace':
      return change.row
    case 'patch':
      return patchRow(before, change.patch)
    case 'delete':
      return null
  }
}

function changeStored(change: WriteOfStored, state: State, changeLog?: NewEntry[]): Outcome {
  const { kind, precondition, origin } = change
  const plant = idOf(change)
  const before = state.read(plant)
  // A missing plant has no entity tag, so this comes first.
  if (!before) return { error: 'no such plant' }
  if (precondition && !holds(precondition, toPlant(before))) return { error: 'precondition failed' }
  const after = rowAfter(change, before)
  if (after) state.update(after)
  else state.remove(plant)
  changeLog?.push({ action: kind, plant, before, after, origin })
  return after && kind === 'patch' ? { row: after } : DONE
}

/** The entry of a plant that was created. */
export const creation = (after: PlantRow, origin: Origin | null): NewEntry => ({
  action: 'create',
  plant: after[0],
  before: null,
  after,
  origin,
})

const replacement = (before: PlantRow, after: PlantRow, origin: Origin | null): NewEntry => ({
  action: 'replace',
  plant: after[0],
  before,
  after,
  origin,
})

/**
 * Applies a change to the state and returns its outcome. Entries of a change that takes effect are added to
 * `changeLog`.
 */
export function decide(change: PlantWrite, state: State, changeLog?: NewEntry[]): Outcome {
  switch (change.kind) {
    case 'create': {
      const outcome = create(change.row, state)
      if (isDone(outcome)) changeLog?.push(creation(change.row, change.origin))
      return outcome
    }
    case 'createAll': {
      const outcome = state.allOrNone((within) => createAll(change.rows, within))
      if (isDone(outcome)) {
        for (const row of change.rows) changeLog?.push(creation(row, change.origin))
      }
      return outcome
    }
    case 'putAll':
      return putAll(change, state, changeLog)
    case 'deleteAll':
      return deleteAll(change, state, changeLog)
    case 'accept':
      return accept(change, state, changeLog)
    default:
      return changeStored(change, state, changeLog)
  }
}

/** The ids of the rows that a change reads or writes. */
export function idsOf(change: PlantWrite): readonly RowId[] {
  switch (change.kind) {
    case 'create':
      return [change.row[0]]
    case 'createAll':
    case 'putAll':
    case 'deleteAll':
      return change.rows.map(([id]) => id)
    case 'accept':
      return change.edits.map(({ id }) => id)
    default:
      return [idOf(change)]
  }
}
