// The contract of a store's change log: entries, pages of entries, and notification of new ones.

import type { Int64, PlantFields } from '../plant/plant'
import type { Origin } from '../plant/plants'

export const ACTIONS = ['create', 'replace', 'patch', 'delete'] as const
export type Action = (typeof ACTIONS)[number]

/** A change that took effect. `before` is null for a create, `after` for a delete. */
export type ChangeLogEntry = Origin & {
  /** Position in the change log; see {@link ChangeLog}. */
  readonly cursor: string
  /** RFC 3339, UTC. */
  readonly at: string
  readonly action: Action
  readonly id: Int64
  readonly before: PlantFields | null
  readonly after: PlantFields | null
}

/** The part of a change log to read. */
export type ReadOptions = { readonly after?: string | undefined; readonly limit: number }

/** A read rejects if its signal is aborted before its turn. */
type Cancellable = { readonly signal?: AbortSignal }

export type ChangeLogPage = { readonly entries: readonly ChangeLogEntry[]; readonly next: string }
export type HistoryPage = { readonly entries: readonly ChangeLogEntry[]; readonly next?: string }

/** Retention period in milliseconds; `off` for no change log, null for the store's setting. */
export type KeepChanges = number | 'off' | null

/** The state of a change log. */
export type ChangeLogStats = {
  readonly entries: number
  /** Retention period in milliseconds. */
  readonly keepMs: number
  /** Time of the oldest change in milliseconds since 1970; null if the change log is empty. */
  readonly oldestAt: number | null
  readonly bytes: number
}

/**
 * The form of a cursor: the mark of a place, and its number. Clients take cursors from responses, and do not parse them.
 */
export const CURSOR = /^([0-9a-f]{16})-(\d{1,15})$/

/** The number in a cursor; null if it is malformed. */
export function numberOf(cursor: string): number | null {
  const [, , digits] = CURSOR.exec(cursor) ?? []
  return digits === undefined ? null : Number(digits)
}

/** The cursor of the end of the change log. */
export const NOW = 'now'

export type ChangeListener = (end?: string) => void

/**
 * The change log of a store: the changes that took effect, in the order of their commits. A change is in it from the
 * moment it is durable, exactly once; no new entry appears before one that was read.
 *
 * A cursor names a place in a change log, and the commit that led to it. `invalid`: it is malformed. `cursor expired`:
 * it is of another change log or another history of this one, or its place was removed. `no change log`: another
 * process has ended the change log.
 */
export interface ChangeLog {
  /**
   * At most `limit` entries after a cursor, oldest first; fewer if they are long. Without `after`, from the oldest
   * entry; with {@link NOW}, none. `next` is the cursor of the last entry, or of the start if there is none.
   */
  read(options: ReadOptions & Cancellable): Promise<ChangeLogPage>
  /**
   * Entries of one plant, or of all (null), newest first: those before the cursor `after`, if given. Without `next`,
   * the page is the last.
   */
  history(id: Int64 | null, options: ReadOptions & Cancellable): Promise<HistoryPage>
  /**
   * Calls `listener` when there may be new entries: at once after commits of this process, within half a second after
   * others, with the cursor of the last entry if it is known: a reader that has it has read all of them. Returns a
   * function that ends it.
   */
  watch(listener: ChangeListener): () => void
  stats(): Promise<ChangeLogStats>
  /** The cursor of the last change of this process, or a later one; undefined if it is unknown. */
  lastCursor?(): string | undefined
}
