import type { Database } from 'bun:sqlite'

/**
 * Lets the reads of one turn of the event loop share a transaction: SQLite then takes and drops its locks once for all
 * of them, which costs more than the reads themselves. A read sees what was committed when the transaction began, so
 * it must be ended whenever a change was acknowledged in between.
 */
export function shareReads(db: Database) {
  const begin = db.query('BEGIN')
  const commit = db.query('COMMIT')
  let isOpen = false

  function end(): void {
    if (!isOpen) return
    isOpen = false
    // SQLite has ended it by itself where a read failed.
    if (db.inTransaction) commit.run()
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
