import type { Database } from 'bun:sqlite'

/**
 * Lets the reads of one turn of the event loop share a transaction: SQLite then takes and drops its locks once for all
 * of them, which costs more than the reads themselves. A read sees what was committed when the transaction began, so
 * it must be ended whenever a change was acknowledged in between. Where it cannot be ended, `onFailure` is told: the
 * connection is of no more use.
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
