// The kinds of plant writes: their ids, outcomes and effects, the same for every engine.

import type { NewEntry } from '../../change-log/entry'
import { holds } from '../../plant/entity-tag'
import type { Origin } from '../../plant/plants'
import {
  hasTexts,
  isSame,
  newRow,
  type PlantRow,
  patchRow,
  type RowId,
  toPlant,
} from '../../plant/row'
import {
  type ChangeReport,
  type DeleteReport,
  DONE,
  isDone,
  type KindName,
  type Outcome,
  type PlantWrite,
  type Refusal,
  type Report,
  type Reports,
  type RowPatch,
  type Write,
  type WriteOf,
} from './write'

/** The stored rows, as the writes before have left them. */
export type State = {
  read(id: RowId): PlantRow | null
  /** Adds a row; false, and nothing changes, if its id is taken. */
  insert(row: PlantRow): boolean
  update(row: PlantRow): void
  remove(id: RowId): void
  /** Undoes what `change` has changed if it ends with a refusal. */
  allOrNone<T extends Report>(change: (state: State) => Refusal | T): Refusal | T
}

/** One kind of write. */
type Kind<K extends KindName> = {
  /** The ids of the rows that it reads or writes. */
  ids(write: WriteOf<K>): readonly RowId[]
  /** Applies it to the state. Entries of what takes effect are added to `entries`. */
  apply(write: WriteOf<K>, state: State, entries?: NewEntry[]): Refusal | Reports[K]
  /** True if it wrote something. */
  hasWritten(report: Reports[K]): boolean
}

const idsOfRows = ({ rows }: { readonly rows: readonly (PlantRow | RowPatch)[] }): RowId[] =>
  rows.map(([id]) => id)

/** The refusal of a row whose id is taken by a stored row. */
export const refuseCreate = (row: PlantRow, storedRow: PlantRow | null): Refusal => ({
  error: storedRow && isSame(row, storedRow) ? 'stored already' : 'taken',
})

/** The entry of a plant that was created. */
export const creation = (after: PlantRow, origin: Origin | null): NewEntry => ({
  action: 'create',
  plant: after[0],
  before: null,
  after,
  origin,
})

/** Makes a write of several plants, all or none. It has no entries if it is refused. */
function makeAll<T extends Report>(
  state: State,
  entries: NewEntry[] | undefined,
  make: (savepoint: State, newEntries: NewEntry[]) => Refusal | T,
): Refusal | T {
  const newEntries: NewEntry[] = []
  const outcome = state.allOrNone((savepoint) => make(savepoint, newEntries))
  if (isDone(outcome)) for (const entry of newEntries) entries?.push(entry)
  return outcome
}

const create: Kind<'create'> = {
  ids: ({ row }) => [row[0]],
  apply({ row, origin }, state, entries) {
    if (!state.insert(row)) return refuseCreate(row, state.read(row[0]))
    entries?.push(creation(row, origin))
    return DONE
  },
  hasWritten: () => true,
}

function refuseAt(index: number, row: PlantRow, storedRow: PlantRow | null): Refusal {
  const { error } = refuseCreate(row, storedRow)
  const reason =
    error === 'stored already'
      ? 'is already stored, with the same fields'
      : 'belongs to a different plant'
  return { error, message: `nothing was created: plants[${index}], id ${row[0]} ${reason}` }
}

const createAll: Kind<'createAll'> = {
  ids: idsOfRows,
  apply: ({ rows, origin }, state, entries) =>
    makeAll(state, entries, (savepoint, newEntries) => {
      for (const [index, row] of rows.entries()) {
        if (!savepoint.insert(row)) return refuseAt(index, row, savepoint.read(row[0]))
        newEntries.push(creation(row, origin))
      }
      return DONE
    }),
  hasWritten: () => true,
}

const changeAll: Kind<'changeAll'> = {
  ids: idsOfRows,
  apply: ({ rows, action, origin }, state, entries) =>
    makeAll<ChangeReport>(state, entries, (savepoint, newEntries) => {
      const conflicts: RowId[] = []
      const missing: RowId[] = []
      const writtenRows: PlantRow[] = []
      let created = 0
      for (const [id, patch, was] of rows) {
        const before = savepoint.read(id)
        if (before) {
          const after = patchRow(before, patch)
          if (was && !hasTexts(before, was)) conflicts.push(id)
          else if (!isSame(after, before)) {
            savepoint.update(after)
            newEntries.push({ action, plant: id, before, after, origin })
            writtenRows.push(after)
          }
          continue
        }
        // The condition of a change requires that there is a plant.
        const row = was ? null : newRow(id, patch)
        if (!row) {
          missing.push(id)
          continue
        }
        // Only a trigger of another program discards it.
        if (!savepoint.insert(row)) return { error: 'unexpected' }
        newEntries.push(creation(row, origin))
        writtenRows.push(row)
        created += 1
      }
      return { created, writtenRows, conflicts, missing }
    }),
  hasWritten: ({ writtenRows }) => writtenRows.length > 0,
}

const deleteAll: Kind<'deleteAll'> = {
  ids: idsOfRows,
  apply: ({ rows, origin }, state, entries) =>
    makeAll<DeleteReport>(state, entries, (savepoint, newEntries) => {
      const deletions = { deleted: [] as RowId[], conflicts: [] as RowId[], missing: [] as RowId[] }
      for (const row of rows) {
        const [plant] = row
        const before = savepoint.read(plant)
        if (!before) deletions.missing.push(plant)
        else if (!isSame(row, before)) deletions.conflicts.push(plant)
        else {
          savepoint.remove(plant)
          deletions.deleted.push(plant)
          newEntries.push({ action: 'delete', plant, before, after: null, origin })
        }
      }
      return deletions
    }),
  hasWritten: ({ deleted }) => deleted.length > 0,
}

/** The stored row of a plant to change; or a refusal if there is none, or it does not meet the precondition. */
function requireStored(
  { id, precondition }: WriteOf<'change' | 'delete'>,
  state: State,
): PlantRow | Refusal {
  const row = state.read(id)
  // A missing plant has no entity tag, so this comes first.
  if (!row) return { error: 'no such plant' }
  return !precondition || holds(precondition, toPlant(row)) ? row : { error: 'precondition failed' }
}

const change: Kind<'change'> = {
  ids: ({ id }) => [id],
  apply(write, state, entries) {
    const before = requireStored(write, state)
    if ('error' in before) return before
    const { id, patch, action, origin } = write
    const row = patchRow(before, patch)
    state.update(row)
    entries?.push({ action, plant: id, before, after: row, origin })
    return { row }
  },
  hasWritten: () => true,
}

const deletion: Kind<'delete'> = {
  ids: ({ id }) => [id],
  apply(write, state, entries) {
    const before = requireStored(write, state)
    if ('error' in before) return before
    const { id, origin } = write
    state.remove(id)
    entries?.push({ action: 'delete', plant: id, before, after: null, origin })
    return DONE
  },
  hasWritten: () => true,
}

const KINDS: { readonly [K in KindName]: Kind<K> } = {
  create,
  createAll,
  changeAll,
  deleteAll,
  change,
  delete: deletion,
}

/** True for a write of plants. */
export const isPlantWrite = (write: Write): write is PlantWrite => write.kind in KINDS

/** Applies a write to the state and returns its outcome. Entries of what takes effect are added to `entries`. */
export const applyWrite = <K extends KindName>(
  write: WriteOf<K>,
  state: State,
  entries?: NewEntry[],
): Outcome => KINDS[write.kind].apply(write, state, entries)

/** The ids of the rows that a write reads or writes. */
export const idsOf = <K extends KindName>(write: WriteOf<K>): readonly RowId[] =>
  KINDS[write.kind].ids(write)

/** True if a write changed plants. */
export function hasWritten(write: Write, outcome: Outcome | undefined): boolean {
  if (!isPlantWrite(write) || !isDone(outcome)) return false
  const kind: Kind<KindName> = KINDS[write.kind]
  // Each write is answered with the report of its own kind.
  return kind.hasWritten(outcome as Reports[KindName])
}
