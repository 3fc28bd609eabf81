// The SQL of the change log. Its numbers have no gaps: the row of `change_log` has the last one, which each commit
// advances.

import type { Database } from 'bun:sqlite'
import type { KeepChanges } from '../../change-log/change-log'
import {
  type ChangeLogRow,
  ENTRY_COLUMNS,
  type EntryRow,
  entryLength,
  entryTexts,
  type NewEntry,
  newChangeLogName,
  newMark,
  toCursor,
} from '../../change-log/entry'
import type { EntryTime } from '../../change-log/retention'
import { createChangeLogReader, type LogSize } from '../change-log-reader'
import { takeRows } from '../page'
import { guardSchema } from './schema'

/** The bytes of an entry in SQL, numbers included. */
const ENTRY_BYTES = '48 + octet_length(concat(action, before, after, token, address, request))'

/** Prepares the reads of the change log. */
export function prepareChangeLog(db: Database) {
  const row = db.query<ChangeLogRow, [entry: number | null]>(
    `SELECT log, keep_ms, last, start_mark, (SELECT min(number) FROM changes) AS first,
       (SELECT mark FROM changes WHERE number = last) AS last_mark,
       (SELECT mark FROM changes WHERE number = ?) AS mark
     FROM change_log`,
  )
  const size = db.query<LogSize, []>(
    'SELECT (SELECT at FROM changes ORDER BY number LIMIT 1) AS at, bytes FROM change_log',
  )
  const selectWhere = (condition: string) =>
    db.query<EntryRow, [number, number, ...bigint[]]>(
      `SELECT ${ENTRY_COLUMNS} FROM changes WHERE ${condition} LIMIT ?2`,
    )
  const selectAfter = selectWhere('number > ?1 ORDER BY number')
  const selectBefore = selectWhere('number < ?1 ORDER BY number DESC')
  const selectOfPlant = selectWhere('plant = ?3 AND number < ?1 ORDER BY number DESC')
  const times = db.query<EntryTime, [number, number]>(
    'SELECT number, at FROM changes WHERE number > ? ORDER BY number LIMIT ?',
  )
  const reader = createChangeLogReader({
    row: (entry) => row.get(entry),
    after: (number, limit) => takeRows(selectAfter.iterate(number, limit), limit, entryLength).rows,
    before(number, limit, plant) {
      // One extra row shows whether there is a next page.
      const range = [number, limit + 1] as const
      const all =
        plant === null ? selectBefore.iterate(...range) : selectOfPlant.iterate(...range, plant)
      const { rows, following } = takeRows(all, limit, entryLength)
      return { rows, isFull: following !== undefined }
    },
    size: () => size.get(),
  })
  return {
    ...reader,
    /** Reads no entry: a daemon also starts if a page of entries is damaged. */
    isKept: () => db.query('SELECT 1 FROM change_log WHERE log IS NOT NULL').get() !== null,
    times: (after: number, limit: number) => times.all(after, limit),
  }
}

// Entries per removal: they cost less than a commit of many changes.
const MAX_REMOVAL = 1000

/** Prepares the statements that write the change log, within an open transaction. */
export function prepareChangeLogWriter(db: Database) {
  const select = db.query<{ log: string; last: bigint }, []>(
    'SELECT log, last FROM change_log WHERE log IS NOT NULL',
  )
  const insert = db.query<never, (string | number | bigint | null)[]>(
    `INSERT INTO changes (${ENTRY_COLUMNS}) VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?)`,
  )
  const advance = db.query<never, [number, number]>(
    `UPDATE change_log SET last = ?1,
       bytes = bytes + (SELECT total(${ENTRY_BYTES}) FROM changes WHERE number > ?2)`,
  )
  // The mark is that of the newest of them (https://sqlite.org/lang_select.html#bareagg).
  const old = db.query<{ newest: bigint | null; mark: bigint; bytes: bigint }, [number, number]>(
    `WITH oldest AS (
       SELECT number, at, mark, ${ENTRY_BYTES} AS bytes FROM changes ORDER BY number LIMIT ${MAX_REMOVAL}
     ), kept AS (
       SELECT min(number) AS first FROM oldest, change_log WHERE number > ?1 OR at BETWEEN ?2 - keep_ms AND ?2
     )
     SELECT max(number) AS newest, mark, sum(bytes) AS bytes FROM oldest, kept
     WHERE first IS NULL OR number < first`,
  )
  const removeUpTo = db.query<never, [bigint]>('DELETE FROM changes WHERE number <= ?')
  const shrink = db.query<never, [bigint, bigint]>(
    'UPDATE change_log SET start_mark = ?, bytes = bytes - ?',
  )

  return {
    /** Adds entries, if a change log is kept. Returns the cursor of the last; undefined if none was added. */
    add(entries: readonly NewEntry[]): string | undefined {
      const state = entries.length > 0 ? select.get() : null
      if (!state) return undefined
      const lastNumber = Number(state.last)
      const at = Date.now()
      const mark = newMark()
      let number = lastNumber
      for (const entry of entries) {
        number += 1
        const [action, ...texts] = entryTexts(entry)
        insert.run(number, at, action, BigInt(entry.plant), ...texts, mark)
      }
      advance.run(number, lastNumber)
      return toCursor(state.log, { number, mark })
    },
    /** Removes some of the entries up to a number: see `RetainedLog`. */
    remove(upTo: number) {
      const { newest = null, mark = 0n, bytes = 0n } = old.get(upTo, Date.now()) ?? {}
      if (newest === null) return
      removeUpTo.run(newest)
      shrink.run(mark, bytes)
    },
  }
}

/**
 * Begins or ends the change log, or changes its retention period. Returns the number of entries removed if it was
 * ended; else null. Only the daemon, which holds the lock, may call it.
 */
export function keepChanges(db: Database, keep: KeepChanges): number | null {
  const same = db.query<object, [number | null]>('SELECT 1 FROM change_log WHERE keep_ms IS ?')
  if (keep === null || same.get(keep === 'off' ? null : keep)) return null
  const change = db.transaction(() => {
    guardSchema(db)()
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
export const renameChangeLog = (db: Database): void =>
  void db.run('UPDATE change_log SET log = ? WHERE log IS NOT NULL', [newChangeLogName()])
