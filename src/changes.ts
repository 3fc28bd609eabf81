// The log of changes: what changed, in the order in which it took effect.

import type { Int64, Plant } from './plant'

/** Who asked for a change. A command gives its name as `request`. */
export type Origin = {
  /** The name of the token. */
  readonly token: string | null
  readonly address: string | null
  readonly request: string | null
}

export const ACTIONS = ['create', 'replace', 'patch', 'delete'] as const
export type Action = (typeof ACTIONS)[number]

/** A change that took effect. `before` of a create and `after` of a delete are null. */
export type Change = Origin & {
  /** Its place in the log; see {@link ChangeLog}. */
  readonly cursor: string
  /** RFC 3339, in UTC. */
  readonly at: string
  readonly action: Action
  readonly id: Int64
  readonly before: Plant | null
  readonly after: Plant | null
}

/** How long changes are kept, in milliseconds; `off`: no log is kept; null: as the store has it. */
export type KeepChanges = number | 'off' | null

/** The state of a log, for metrics. */
export type LogStats = {
  readonly entries: number
  /** When the oldest change took effect, in milliseconds since 1970; null: the log is empty. */
  readonly oldestAt: number | null
  readonly bytes: number
}

/** The cursor that stands for the end of the log. */
export const NOW = 'now'

/**
 * The log of changes of a store. A change is in it from the moment it is durable, exactly once; who has seen one never later
 * sees a new one before it.
 *
 * A cursor names a log and a place in it. 40002: it is malformed. 41001: it is of another log, or its place was removed.
 * 40403: another process has ended the log.
 */
export interface ChangeLog {
  /**
   * The changes after a cursor, the oldest first: at most `limit`, and fewer if they are long. Without `after`: from the
   * oldest that is kept; {@link NOW}: none. `next` is the cursor of the last one; of where it began, if there is none.
   */
  read(options: {
    readonly after?: string | undefined
    readonly limit: number
  }): Promise<{ readonly changes: readonly Change[]; readonly next: string }>
  /** The changes of one plant, the newest first: those before the cursor `after`, if given. No `next`: no more follow. */
  history(
    id: Int64,
    options: { readonly after?: string | undefined; readonly limit: number },
  ): Promise<{ readonly changes: readonly Change[]; readonly next?: string }>
  /**
   * Calls `listener` when there may be changes that it has not seen: at once for those of this process, within half a second
   * for others. Returns a function that ends it.
   */
  watch(listener: () => void): () => void
  stats(): Promise<LogStats>
}
