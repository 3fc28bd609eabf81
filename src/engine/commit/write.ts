// Writes and their outcomes, shared by every engine.

import type { Action } from '../../change-log/change-log'
import type { Precondition } from '../../plant/entity-tag'
import type { ChangedTexts } from '../../plant/plant'
import type { Origin } from '../../plant/plants'
import type { PlantRow, RowId } from '../../plant/row'
import type { ErrorName } from '../../request-errors'

/** A row to patch: the fields to change, and those that it must still have; null for no condition. */
export type RowPatch = readonly [id: RowId, patch: ChangedTexts, was: ChangedTexts | null]

type OfStored = { readonly id: RowId; readonly precondition: Precondition | null }
/** The action of a change in the change log. */
export type ChangeAction = Extract<Action, 'replace' | 'patch'>

/** The data of each kind of write. It survives JSON unaltered. */
type Data = {
  create: { readonly row: PlantRow }
  createAll: { readonly rows: readonly PlantRow[] }
  /** Creates plants, or changes their fields. */
  changeAll: { readonly rows: readonly RowPatch[]; readonly action: ChangeAction }
  /** Deletes the plants that are stored with exactly these fields. */
  deleteAll: { readonly rows: readonly PlantRow[] }
  change: OfStored & { readonly patch: ChangedTexts; readonly action: ChangeAction }
  delete: OfStored
}

/** The name of a kind of write of plants; `kinds.ts` has the kinds. */
export type KindName = keyof Data

/** A write of plants of one of these kinds. `origin`: null if there is no change log. */
export type WriteOf<K extends KindName> = {
  [Name in K]: { readonly kind: Name; readonly origin: Origin | null } & Data[Name]
}[K]

/** A change of plants, requested by a user. */
export type PlantWrite = WriteOf<KindName>

/** A statement that changes tokens, and the values of its parameters, which it names in their order. */
export type TokenStatement = readonly [sql: string, ...values: (string | number | null)[]]

/** A write that changes no plant. */
type Maintenance =
  /** Records when a token was last used. */
  | { readonly kind: 'recordUse'; readonly hash: string; readonly hour: number }
  /** Removes some entries of the change log up to a number: see `RetainedLog`. */
  | { readonly kind: 'removeEntries'; readonly upTo: number }
  | { readonly kind: 'changeTokens'; readonly statements: readonly TokenStatement[] }

/** A write that waits in the queue. */
export type Write = PlantWrite | Maintenance

/** The reason that nothing of a write was stored; `detail` is for the log. */
export type Refusal = {
  readonly error: ErrorName
  readonly message?: string
  readonly detail?: string
}

/** A durable write with nothing to report. A string, which is cheap between threads. */
export const DONE = 'done' as const

/** The ids of a batch of deletes: deleted, stored with other fields, and not stored. */
export type DeleteReport = {
  readonly deleted: readonly RowId[]
  readonly conflicts: readonly RowId[]
  readonly missing: readonly RowId[]
}

/** The report of a batch of changes: the number created, the rows written, and the ids as in {@link DeleteReport}. */
export type ChangeReport = Pick<DeleteReport, 'conflicts' | 'missing'> & {
  readonly created: number
  readonly writtenRows: readonly PlantRow[]
}

/** The report of each kind of write, once it is durable. */
export type Reports = {
  create: typeof DONE
  createAll: typeof DONE
  changeAll: ChangeReport
  deleteAll: DeleteReport
  change: { readonly row: PlantRow }
  delete: typeof DONE
  /** `changed`: the number of tokens that the last statement has changed. */
  changeTokens: { readonly changed: number }
}

/** The report of any durable write. */
export type Report = Reports[keyof Reports]

/** The report of a write of this type. */
export type ReportOf<W> = W extends { readonly kind: infer K extends keyof Reports }
  ? Reports[K]
  : typeof DONE

/** The end of a write: done, or refused. */
export type Outcome = Refusal | Report

/** True if a write was made. */
export const isDone = (outcome: Outcome | undefined): outcome is Report =>
  outcome === DONE || (typeof outcome === 'object' && !('error' in outcome))
