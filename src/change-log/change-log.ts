// The contract of the change log of a store: its entries, pages of them, and who watches it.

import type { Int64, PlantFields } from '../plant/plant'
import type { Origin } from '../plant/plants'

export const ACTIONS = ['create', 'replace', 'patch', 'delete'] as const
export type Action = (typeof ACTIONS)[number]

/** A change that took effect. `before` of a create and `after` of a delete are null. */
export type ChangeLogEntry = Origin & {
  /** Its place in the change log; see {@link ChangeLog}. */
  readonly cursor: string
  /** RFC 3339, in UTC. */
  readonly at: string
  readonly action: Action
  readonly id: Int64
  readonly before: PlantFields | null
  readonly after: PlantFields | null
}

/** Which part of a change log is read. */
export type ReadOptions = { readonly after?: string | undefined; readonly limit: number }

export type ChangeLogPage = { readonly entries: readonly ChangeLogEntry[]; readonly next: string }
export type HistoryPage = { readonly entries: readonly ChangeLogEntry[]; readonly next?: string }

/** How long changes are kept, in milliseconds; `off`: no change log is kept; null: as the store has it. */
export type KeepChanges = number | 'off' | null

/** The state of a change log, for metrics. */
export type ChangeLogStats = {
  readonly entries: number
  /** When the oldest change took effect, in milliseconds since 1970; null: the change log is empty. */
  readonly oldestAt: number | null
  readonly bytes: number
}

/** The form of a cursor: the mark of a place, and its number. Clients take cursors from answers, and do not read them. */
export const CURSOR = /^([0-9a-f]{16})-(\d{1,15})$/

/** The cursor that stands for the end of the change log. */
export const NOW = 'now'

/**
 * The change log of a store: the changes that took effect, in the order of their commits. Users know it as the change log. A
 * change is in it from the moment it is durable, exactly once; no new entry appears before one that was read.
 *
 * A cursor names a place in a change log, and the commit that led to it. 40002: it is malformed. 41001: it is of another change
 * log or another history of this one, or its place was removed. 40403: another process has ended the change log.
 */
export interface ChangeLog {
  /**
   * The entries after a cursor, the oldest first: at most `limit`, and fewer if they are long. Without `after`: from the
   * oldest that is kept; {@link NOW}: none. `next` is the cursor of the last one; of where it began, if there is none.
   */
  read(options: ReadOptions): Promise<ChangeLogPage>
  /** The entries of one plant, the newest first: those before the cursor `after`, if given. No `next`: no more follow. */
  history(id: Int64, options: ReadOptions): Promise<HistoryPage>
  /**
   * Calls `listener` when there may be new entries: at once for those of this process, within half a second for others.
   * Returns a function that ends it.
   */
  watch(listener: () => void): () => void
  stats(): Promise<ChangeLogStats>
}
