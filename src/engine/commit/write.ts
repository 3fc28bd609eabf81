// What waits for a commit, and how it ends. Every engine shares it; nothing here knows a database.

import type { ErrorNumber } from '../../errors'
import type { Precondition } from '../../plant/entity-tag'
import type { ChangedTexts } from '../../plant/plant'
import type { Origin, PutCounts } from '../../plant/plants'
import type { PlantRow, RowId } from '../../plant/row'

/** What every change has. All of a change survives JSON. */
type Requested = {
  /** null: no change log is kept. */
  readonly origin: Origin | null
}

export type Create = Requested & { readonly kind: 'create'; readonly row: PlantRow }
export type CreateAll = Requested & {
  readonly kind: 'createAll'
  readonly rows: readonly PlantRow[]
}

/** Creates or replaces plants. */
export type PutAll = Requested & { readonly kind: 'putAll'; readonly rows: readonly PlantRow[] }

/** A change of one plant that is stored. */
export type WriteOfStored = Requested & { readonly precondition: Precondition | null } & (
    | { readonly kind: 'replace'; readonly row: PlantRow }
    | { readonly kind: 'patch'; readonly id: RowId; readonly patch: ChangedTexts }
    | { readonly kind: 'delete'; readonly id: RowId }
  )

/** A change of plants, as a client asks for it. */
export type PlantWrite = Create | CreateAll | PutAll | WriteOfStored

/** A write of the store's own, which changes no plant. */
export type Maintenance =
  /** Records when a token was last used. */
  | { readonly kind: 'recordUse'; readonly hash: string; readonly hour: number }
  /** Removes some entries of the change log that are older than a time. */
  | { readonly kind: 'removeEntries'; readonly before: number }
  /** Writes to the disk what is there already, to see whether that succeeds. */
  | { readonly kind: 'probe' }

/** What waits for a commit. */
export type Write = PlantWrite | Maintenance

const MAINTENANCE: readonly Write['kind'][] = [
  'recordUse',
  'removeEntries',
  'probe',
] satisfies Maintenance['kind'][]

/** True if a client asked for a write. */
export const isPlantWrite = (write: Write): write is PlantWrite => !MAINTENANCE.includes(write.kind)

/** Why nothing of a write was stored; `detail` is for the log. */
export type Refusal = {
  readonly error: ErrorNumber
  readonly message?: string
  readonly detail?: string
}

/** What a write left that is durable: for a patch, its row; for a batch of puts, its counts; null for any other. */
export type Done = { readonly row: PlantRow } | { readonly put: PutCounts } | null

/** How a write ended: done, or refused. */
export type Outcome = Refusal | Done

/** True if a write was made. */
export const isDone = (outcome: Outcome | undefined): outcome is Done =>
  outcome === null || (outcome !== undefined && !('error' in outcome))

/** The counts of a batch of puts; null for any other outcome. */
export const putCounts = (outcome: Outcome | undefined): PutCounts | null =>
  outcome && 'put' in outcome ? outcome.put : null

/** True if a write was made, and it wrote something. */
export function hasWritten(outcome: Outcome | undefined): boolean {
  const counts = putCounts(outcome)
  return counts ? counts.created + counts.replaced > 0 : isDone(outcome)
}
