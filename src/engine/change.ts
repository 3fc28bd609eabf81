// The changes that a store makes, and how each of them ends. Every engine shares them; no database is known here.

import type { ErrorNumber } from '../errors'
import { exactNumber, type Int64, type NewPlant } from '../plant'

/** An id that survives JSON: a number where that is exact, else its digits. */
export type RowId = number | string

/** A plant that survives JSON. */
export type Row = readonly [id: RowId, name: string, tag: string | null]

/** One change of the store. A `probe` writes to the disk, a `use` notes the hour of a token's last use: no plant changes. */
export type Change =
  | readonly ['create', Row]
  | readonly ['createAll', readonly Row[]]
  | readonly ['replace', Row]
  | readonly ['delete', id: RowId]
  | readonly ['use', hash: string, hour: number]
  | readonly ['probe']

/** How a change ended: null when it is durable, else why nothing of it was stored; `detail` is for the log. */
export type Outcome = {
  readonly error: ErrorNumber
  readonly message?: string
  readonly detail?: string
} | null

// Digits for every id would cost both threads more to write and to parse.
export const toRowId = (id: Int64): RowId => exactNumber(id) ?? String(id)

export const toRow = ({ id, name, tag }: NewPlant): Row => [toRowId(id), name, tag ?? null]

/** Whether a change is one that a client asked for. */
export const isRequested = ([kind]: Change): boolean => kind !== 'probe' && kind !== 'use'

/** The rows that a batch leaves behind once it is committed, by id; null for a plant that it removed. */
export function netEffect(
  changes: readonly Change[],
  outcomes: readonly Outcome[],
): Map<RowId, Row | null> {
  const rows = new Map<RowId, Row | null>()
  for (const [index, change] of changes.entries()) {
    if (outcomes[index] !== null) continue
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
    }
  }
  return rows
}
