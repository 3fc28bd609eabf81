// The changes of a store, and their outcomes. Every engine shares them; nothing here knows a database.

import type { ErrorNumber } from '../errors'
import type { Precondition } from '../plant/entity-tag'
import type { ChangedTexts } from '../plant/plant'
import type { Origin } from '../store'
import type { Row, RowId } from './row'

// undefined becomes null in JSON.
type By = Origin | null

/** A change of plants, as a client asks for it. */
export type PlantChange =
  | readonly ['create', Row, by?: By]
  | readonly ['createAll', readonly Row[], by?: By]
  | readonly ['replace', id: RowId, Precondition | null, Row, by?: By]
  | readonly ['patch', id: RowId, Precondition | null, ChangedTexts, by?: By]
  | readonly ['delete', id: RowId, Precondition | null, by?: By]

/**
 * One change of the store. A `probe` writes to the disk, a `use` records a token's last use, `forget` removes some entries of
 * the log of changes that are older than a time: no plant changes.
 */
export type Change =
  | PlantChange
  | readonly ['use', hash: string, hour: number]
  | readonly ['forget', before: number]
  | readonly ['probe']

const KINDS: readonly Change[0][] = ['create', 'createAll', 'replace', 'patch', 'delete']

/** Why nothing of a change was stored; `detail` is for the log. */
export type Refusal = {
  readonly error: ErrorNumber
  readonly message?: string
  readonly detail?: string
}

/** How a change ended: null if it is durable; for a patch, the row it left, also durable; or a refusal. */
export type Outcome = Refusal | { readonly row: Row } | null

/** Whether a change was made. */
export const isDone = (outcome: Outcome | undefined): outcome is { readonly row: Row } | null =>
  outcome === null || (outcome !== undefined && 'row' in outcome)

/** Whether a change is one that a client asked for. */
export const isRequested = (change: Change): change is PlantChange => KINDS.includes(change[0])
