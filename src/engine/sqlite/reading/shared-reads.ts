// The reads of one turn of the event loop share a transaction.

import type { Database } from 'bun:sqlite'

/** The transaction that the reads of a turn share. */
export type SharedReads = {
  /** Begins it, if none is open. It ends after this turn of the event loop. */
  begin(): void
  /** Ends it now, so that the next read sees what was committed since. */
  end(): void
}

/**
 * SQLite then takes and releases its locks, which costs more than the reads, only once for all of them. A read sees what
 * was committed when the transaction began, so it is ended before each answer to a change. If it cannot be ended, the
 * connection is unusable, and `onFailure` is called. No transaction is begun while `mayShare` says no: each read then has
 * its own.
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
      // If a read failed, SQLite has already ended it.
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
