// The changes of a store, and their outcomes. Every engine shares them; nothing here knows a database.

import { holds, type Precondition } from '../entity-tag'
import type { ErrorNumber } from '../errors'
import { exactNumber, type Int64, type NewPlant } from '../plant'
import type { PlantPatch } from '../store'

/** An id that survives JSON: a number if that is exact, else its digits. */
export type RowId = number | string

/** A plant that survives JSON. */
export type Row = readonly [id: RowId, name: string, tag: string | null]

/** One change of the store. A `probe` writes to the disk, a `use` records a token's last use: no plant changes. */
export type Change =
  | readonly ['create', Row]
  | readonly ['createAll', readonly Row[]]
  | readonly ['replace', Row, Precondition?]
  | readonly ['patch', id: RowId, PlantPatch, Precondition?]
  | readonly ['delete', id: RowId, Precondition?]
  | readonly ['use', hash: string, hour: number]
  | readonly ['probe']

/** Why nothing of a change was stored; `detail` is for the log. */
export type Refusal = {
  readonly error: ErrorNumber
  readonly message?: string
  readonly detail?: string
}

/** How a change ended: null if it is durable; for a patch, the row it left, also durable; or a refusal. */
export type Outcome = Refusal | { readonly row: Row } | null

// Digits for every id would cost both threads more time to write and to parse.
export const toRowId = (id: Int64): RowId => exactNumber(id) ?? String(id)

export const toRow = ({ id, name, tag }: NewPlant): Row => [toRowId(id), name, tag ?? null]

/** A row of the table as a database gives it. */
export type StoredPlant = {
  readonly id: bigint
  readonly name: string
  readonly tag: string | null
}

export const plantOf = ({ id, name, tag }: StoredPlant): NewPlant =>
  tag === null ? { id, name } : { id, name, tag }

export const toPlant = ([id, name, tag]: Row): NewPlant =>
  tag === null ? { id: BigInt(id), name } : { id: BigInt(id), name, tag }

/** Whether a change was made. */
export const isDone = (outcome: Outcome | undefined): outcome is { readonly row: Row } | null =>
  outcome === null || (outcome !== undefined && 'row' in outcome)

/** Why a stored row may not be changed; null if it may. A missing plant has no entity tag, so 40402 comes first. */
export function refuseChange(stored: Row | null, precondition?: Precondition): Refusal | null {
  if (!stored) return { error: 40402 }
  const [id, name, tag] = stored
  return !precondition || holds(precondition, { id, name, tag }) ? null : { error: 41201 }
}

/** A row after a patch (RFC 7396). */
export const patchRow = ([id, name, tag]: Row, patch: PlantPatch): Row => [
  id,
  patch.name ?? name,
  patch.tag === undefined ? tag : patch.tag,
]

/** Whether a change is one that a client asked for. */
export const isRequested = ([kind]: Change): boolean => kind !== 'probe' && kind !== 'use'

/** The rows that a batch has changed once it is committed, by id; null for a plant that it removed. */
export function netEffect(
  changes: readonly Change[],
  outcomes: readonly Outcome[],
): Map<RowId, Row | null> {
  const rows = new Map<RowId, Row | null>()
  for (const [index, change] of changes.entries()) {
    const outcome = outcomes[index]
    if (!isDone(outcome)) continue
    switch (change[0]) {
      case 'create':
      case 'replace':
        rows.set(change[1][0], change[1])
        break
      case 'createAll':
        for (const row of change[1]) rows.set(row[0], row)
        break
      case 'delete':
        rows.set(change[1], null)
        break
      case 'patch':
        if (outcome) rows.set(change[1], outcome.row)
        break
    }
  }
  return rows
}
