// The reads of one turn of the event loop share a transaction.

import type { Database } from 'bun:sqlite'

/**
 * SQLite then takes and drops its locks once for all of them, which costs more than the reads. A read sees what was
 * committed when the transaction began: so it is ended before each answer to a change. Where it cannot be ended, the
 * connection is of no more use, and `onFailure` is told.
 */
export function shareReads(db: Database, onFailure: (error: unknown) => void) {
  const begin = db.query('BEGIN')
  const commit = db.query('COMMIT')
  let isOpen = false

  function end(): void {
    if (!isOpen) return
    isOpen = false
    try {
      // SQLite has ended it by itself where a read failed.
      if (db.inTransaction) commit.run()
    } catch (error) {
      onFailure(error)
    }
  }

  return {
    begin(): void {
      if (isOpen) return
      begin.run()
      isOpen = true
      setImmediate(end)
    },
    end,
  }
}
