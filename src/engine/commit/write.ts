// Writes and their outcomes, shared by every engine. Nothing here knows a database.

import type { Edit } from '../../change-log/check'
import type { ErrorName } from '../../errors'
import type { Precondition } from '../../plant/entity-tag'
import type { ChangedTexts } from '../../plant/plant'
import type { Origin, PutCounts } from '../../plant/plants'
import type { PlantRow, RowId } from '../../plant/row'

/** The fields that every change has. A change survives JSON unaltered. */
type Requested = {
  /** null: there is no change log. */
  readonly origin: Origin | null
}

export type Create = Requested & { readonly kind: 'create'; readonly row: PlantRow }
type CreateAll = Requested & {
  readonly kind: 'createAll'
  readonly rows: readonly PlantRow[]
}

/** Creates or replaces plants. */
export type PutAll = Requested & { readonly kind: 'putAll'; readonly rows: readonly PlantRow[] }

/** Deletes the plants that are stored with exactly these fields. */
export type DeleteAll = Requested & {
  readonly kind: 'deleteAll'
  readonly rows: readonly PlantRow[]
}

/** A change of one plant that is stored. */
export type WriteOfStored = Requested & { readonly precondition: Precondition | null } & (
    | { readonly kind: 'replace'; readonly row: PlantRow }
    | { readonly kind: 'patch'; readonly id: RowId; readonly patch: ChangedTexts }
    | { readonly kind: 'delete'; readonly id: RowId }
  )

/** Logs edits by other programs, and adds to the recorded number of plants. Changes no plant. */
export type Accept = Requested & {
  readonly kind: 'accept'
  readonly edits: readonly Edit[]
  readonly uncounted: number
}

/** A change of plants, or of what is recorded of them, requested by a user. */
export type PlantWrite = Create | CreateAll | PutAll | DeleteAll | WriteOfStored | Accept

/** A write by the store itself, which changes no plant. */
type Maintenance =
  /** Records when a token was last used. */
  | { readonly kind: 'recordUse'; readonly hash: string; readonly hour: number }
  /** Removes some entries of the change log up to a number: see `RetainedLog`. */
  | { readonly kind: 'removeEntries'; readonly upTo: number }
  /** Writes without changing anything, to test the disk. */
  | { readonly kind: 'probe' }

/** An entry of the write queue. */
export type Write = PlantWrite | Maintenance

const MAINTENANCE: readonly Write['kind'][] = [
  'recordUse',
  'removeEntries',
  'probe',
] satisfies Maintenance['kind'][]

/** True if a client requested a write. */
export const isPlantWrite = (write: Write): write is PlantWrite => !MAINTENANCE.includes(write.kind)

/** The reason that nothing of a write was stored; `detail` is for the log. */
export type Refusal = {
  readonly error: ErrorName
  readonly message?: string
  readonly detail?: string
}

/** A durable write with nothing to report. A string, which is cheap between threads. */
export const DONE = 'done' as const

/** The ids of a batch of deletes: deleted, stored with other fields, and not stored. */
export type DeletedRows = {
  readonly deleted: readonly RowId[]
  readonly changed: readonly RowId[]
  readonly missing: readonly RowId[]
}

/**
 * The report of a durable write: the row after a patch, the counts of a batch of puts, or the rows of a batch of
 * deletes.
 */
export type Done =
  | typeof DONE
  | { readonly row: PlantRow }
  | { readonly put: PutCounts }
  | { readonly deletes: DeletedRows }

/** The end of a write: done, or refused. */
export type Outcome = Refusal | Done

/** Not the end of a write: its rows are locked for now, and it is sent again in a later batch. */
export const POSTPONED = 'postponed' as const

/** The outcome of a write in a batch. */
export type BatchOutcome = Outcome | typeof POSTPONED

/** True if a write was made. */
export const isDone = (outcome: BatchOutcome | undefined): outcome is Done =>
  outcome === DONE || (typeof outcome === 'object' && !('error' in outcome))

/** The counts of a batch of puts; null for any other outcome. */
export const putCounts = (outcome: BatchOutcome | undefined): PutCounts | null =>
  typeof outcome === 'object' && 'put' in outcome ? outcome.put : null

/** The rows of a batch of deletes; null for any other outcome. */
export const deletedRows = (outcome: BatchOutcome | undefined): DeletedRows | null =>
  typeof outcome === 'object' && 'deletes' in outcome ? outcome.deletes : null

/** True if a write was made, and it wrote something. */
export function hasWritten(outcome: BatchOutcome | undefined): boolean {
  const rows = deletedRows(outcome)
  if (rows) return rows.deleted.length > 0
  const counts = putCounts(outcome)
  return counts ? counts.created + counts.replaced > 0 : isDone(outcome)
}
