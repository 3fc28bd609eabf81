// The shared transaction of all reads in an event loop turn.

import type { Database } from 'bun:sqlite'

/** The transaction shared by the reads of a turn. */
export type SharedReads = {
  /** Begins it unless it is open. It ends after this turn of the event loop. */
  begin(): void
  /** Ends it now, so that the next read sees later commits. */
  end(): void
}

/**
 * Shares a transaction among the reads of a turn, as SQLite's locks cost more than the reads. A read sees the commits
 * before the transaction began, so it is ended before each answer to a change. If that fails, the connection is
 * unusable, and `onFailure` is called. While `mayShare` returns false, each read has its own transaction.
 */
export function shareReads(
  db: Database,
  mayShare: () => boolean,
  onFailure: (error: unknown) => void,
): SharedReads {
  const begin = db.query('BEGIN')
  const commit = db.query('COMMIT')
  let isOpen = false

  function end(): void {
    if (!isOpen) return
    isOpen = false
    try {
      // After a failed read, SQLite has already ended it.
      if (db.inTransaction) commit.run()
    } catch (error) {
      onFailure(error)
    }
  }

  return {
    begin() {
      if (isOpen || !mayShare()) return
      begin.run()
      isOpen = true
      setImmediate(end)
    },
    end,
  }
}
