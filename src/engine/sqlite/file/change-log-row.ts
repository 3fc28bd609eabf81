// The change log in a database file: the size of its entries, and the row that enables it.

import type { Database } from 'bun:sqlite'
import type { KeepChanges } from '../../../change-log/change-log'
import { newChangeLogName } from '../../../change-log/entry'
import { refuseTriggers } from './alterations'

const TEXTS = ['before', 'after', 'token', 'address', 'request']

/** The bytes of an entry in SQL, numbers included. */
export const ENTRY_BYTES = `48 + octet_length(action) + ${TEXTS.map(
  (name) => `ifnull(octet_length(${name}), 0)`,
).join(' + ')}`

/**
 * Begins or ends the change log, or changes its retention period. Returns the number of entries removed if it was
 * ended; else null. Only the daemon, which holds the lock, may call it.
 */
export function keepChanges(db: Database, keep: KeepChanges): number | null {
  if (keep === null) return null
  const current = db
    .query<{ isSame: bigint }, [number | null]>('SELECT keep_ms IS ? AS isSame FROM change_log')
    .get(keep === 'off' ? null : keep)
  if (current?.isSame === 1n) return null
  const change = db.transaction(() => {
    refuseTriggers(db)
    if (keep === 'off') {
      const { changes } = db.run('DELETE FROM changes')
      db.run('UPDATE change_log SET log = NULL, keep_ms = NULL, bytes = 0')
      return changes
    }
    db.run('UPDATE change_log SET log = ifnull(log, ?), keep_ms = ?', [newChangeLogName(), keep])
    return null
  })
  return change.immediate()
}

/**
 * Renames the change log at a restore, so that every cursor expires. Marks in cursors would not do: a client may have
 * taken its cursor before the backup, then listed plants that the backup lacks; it would follow on, and keep them.
 */
export function renameChangeLog(db: Database): void {
  if (!db.query(`SELECT 1 FROM sqlite_schema WHERE name = 'change_log'`).get()) return
  db.run('UPDATE change_log SET log = ? WHERE log IS NOT NULL', [newChangeLogName()])
}
