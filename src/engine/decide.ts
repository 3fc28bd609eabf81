// Decides the outcomes of changes, in order, given the stored rows. Pure: nothing here knows a database.

import {
  type Change,
  type Outcome,
  patchRow,
  type Refusal,
  type Row,
  type RowId,
  refuseChange,
} from './change'

/** Stored rows by id. */
export type Rows = ReadonlyMap<RowId, Row>

/** How each change ended, and what to write: new rows, rows with other fields, and removed rows. */
export type Decided = {
  readonly outcomes: readonly Outcome[]
  readonly inserted: readonly Row[]
  readonly updated: readonly Row[]
  readonly deleted: readonly RowId[]
}

/** The ids of the rows that a change reads or writes. */
export function idsOf(change: Change): readonly RowId[] {
  switch (change[0]) {
    case 'create':
    case 'replace':
      return [change[1][0]]
    case 'createAll':
      return change[1].map(([id]) => id)
    case 'patch':
    case 'delete':
      return [change[1]]
    case 'use':
    case 'probe':
      return []
  }
}

const isSame = ([, name, tag]: Row, other: Row): boolean => name === other[1] && tag === other[2]

/** Why a plant is not created if its id has a row already. */
export const refuseCreate = (row: Row, stored: Row): Refusal => ({
  error: isSame(row, stored) ? 40901 : 40902,
})

/** Why nothing of a group is created, given the refusal of one of its plants. */
export const refuseGroup = ({ error }: Refusal, index: number, id: RowId): Refusal => ({
  error,
  message:
    error === 40901
      ? `nothing was created: plants[${index}], id ${id} is already stored, with the same fields`
      : `nothing was created: plants[${index}], id ${id} belongs to a different plant`,
})

/** The stored rows, overlaid with what earlier changes made of them. */
function overlay(stored: Rows) {
  const changed = new Map<RowId, Row | null>()
  return {
    changed,
    read(id: RowId): Row | null {
      const row = changed.get(id)
      return row === undefined ? (stored.get(id) ?? null) : row
    },
    write(id: RowId, row: Row | null): void {
      changed.set(id, row)
    },
  }
}

type Overlay = ReturnType<typeof overlay>

function createAll(rows: readonly Row[], state: Overlay): Outcome {
  const fresh = new Map<RowId, Row>()
  for (const [index, row] of rows.entries()) {
    const [id] = row
    const stored = fresh.get(id) ?? state.read(id)
    if (stored) return refuseGroup(refuseCreate(row, stored), index, id)
    fresh.set(id, row)
  }
  for (const [id, row] of fresh) state.write(id, row)
  return null
}

function decideOne(change: Change, state: Overlay): Outcome {
  switch (change[0]) {
    case 'create': {
      const row = change[1]
      const stored = state.read(row[0])
      if (stored) return refuseCreate(row, stored)
      state.write(row[0], row)
      return null
    }
    case 'createAll':
      return createAll(change[1], state)
    case 'replace': {
      const row = change[1]
      const refusal = refuseChange(state.read(row[0]), change[2])
      if (!refusal) state.write(row[0], row)
      return refusal
    }
    case 'patch': {
      const stored = state.read(change[1])
      const refusal = refuseChange(stored, change[3])
      if (!stored || refusal) return refusal
      const row = patchRow(stored, change[2])
      state.write(row[0], row)
      return { row }
    }
    case 'delete': {
      const refusal = refuseChange(state.read(change[1]), change[2])
      if (!refusal) state.write(change[1], null)
      return refusal
    }
    case 'use':
    case 'probe':
      return null
  }
}

/** Decides how each change ends; `stored` has every existing row that they concern. */
export function decide(changes: readonly Change[], stored: Rows): Decided {
  const state = overlay(stored)
  const outcomes = changes.map((change) => decideOne(change, state))
  const inserted: Row[] = []
  const updated: Row[] = []
  const deleted: RowId[] = []
  for (const [id, row] of state.changed) {
    const before = stored.get(id)
    if (!row) {
      if (before) deleted.push(id)
    } else if (!before) inserted.push(row)
    else if (!isSame(row, before)) updated.push(row)
  }
  return { outcomes, inserted, updated, deleted }
}
