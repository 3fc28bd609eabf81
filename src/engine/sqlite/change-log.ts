// The SQL of the change log. Its numbers have no gaps: the row of `change_log` has the last one, which each commit
// advances.

import type { Database } from 'bun:sqlite'
import type {
  ChangeLogPage,
  ChangeLogStats,
  HistoryPage,
  KeepChanges,
  ReadOptions,
} from '../../change-log/change-log'
import {
  type ChangeLogRow,
  ENTRY_COLUMNS,
  type EntryRow,
  type EntryTexts,
  endOf,
  entryLength,
  entryTexts,
  MAX_ENTRIES,
  type NewEntry,
  newChangeLogName,
  newMark,
  numberAfter,
  numberBefore,
  pageAfter,
  placeOf,
  toChangeLogEntry,
  toChangeLogState,
  toCursor,
} from '../../change-log/entry'
import type { EntryRange, EntryTime } from '../../change-log/retention'
import type { Int64 } from '../../plant/plant'
import { PAGE_LENGTH } from '../page'
import { guardSchema } from './schema'

const TEXTS = ['before', 'after', 'token', 'address', 'request']

/** The bytes of an entry in SQL, numbers included. */
const ENTRY_BYTES = `48 + octet_length(action) + ${TEXTS.map(
  (name) => `ifnull(octet_length(${name}), 0)`,
).join(' + ')}`

/** The row of the change log; `at`: the time of its oldest entry. */
type StateRow = ChangeLogRow & {
  readonly keep_ms: bigint | null
  readonly bytes: bigint
  readonly at: bigint | null
}

/** The rows of a page; `isFull`: there are more. */
function takeRows(all: Iterable<EntryRow>, limit: number) {
  const rows: EntryRow[] = []
  let length = 0
  for (const row of all) {
    if (rows.length === limit || length > PAGE_LENGTH) return { rows, isFull: true }
    rows.push(row)
    length += entryLength(row)
  }
  return { rows, isFull: false }
}

export type ChangeLogReader = ReturnType<typeof prepareChangeLogReader>

/** Prepares the statements that read the change log; see `ChangeLog` and `RetainedLog`. */
export function prepareChangeLogReader(db: Database) {
  const select = db.query<StateRow, [entry: number | null]>(
    `SELECT log, keep_ms, last, bytes, number AS first, at, start_mark,
       (SELECT mark FROM changes WHERE number = last) AS last_mark,
       (SELECT mark FROM changes WHERE number = ?) AS mark
     FROM change_log LEFT JOIN (SELECT number, at FROM changes ORDER BY number LIMIT 1)`,
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
  const last = db.query<{ log: string; number: bigint; mark: bigint }, []>(
    'SELECT log, number, mark FROM change_log JOIN changes ON number = last WHERE log IS NOT NULL',
  )

  return {
    /** Reads no entry: a daemon also starts if a page of entries is damaged. */
    isKept: () => db.query('SELECT 1 FROM change_log WHERE log IS NOT NULL').get() !== null,
    read({ after: cursor, limit }: ReadOptions): ChangeLogPage {
      const state = toChangeLogState(select.get(numberAfter(cursor)))
      const place = placeOf(cursor, state)
      const maxEntries = Math.min(limit, MAX_ENTRIES)
      const { rows } = takeRows(selectAfter.iterate(place.number, maxEntries), maxEntries)
      return pageAfter(place, rows, state, cursor)
    },
    history(id: Int64 | null, { after: cursor, limit }: ReadOptions): HistoryPage {
      const state = toChangeLogState(select.get(numberBefore(cursor)))
      const maxEntries = Math.min(limit, MAX_ENTRIES)
      // One extra row shows whether there is a next page.
      const range = [endOf(cursor, state), maxEntries + 1] as const
      const { rows, isFull } = takeRows(
        id === null ? selectBefore.iterate(...range) : selectOfPlant.iterate(...range, id),
        maxEntries,
      )
      const entries = rows.map((row) => toChangeLogEntry(state.name, row))
      const last = entries.at(-1)
      return isFull && last ? { entries, next: last.cursor } : { entries }
    },
    stats(): ChangeLogStats {
      const row = select.get(null)
      const { start, last } = toChangeLogState(row)
      const oldestAt = row?.at == null ? null : Number(row.at)
      const keepMs = Number(row?.keep_ms)
      return { entries: last.number - start.number, keepMs, oldestAt, bytes: Number(row?.bytes) }
    },
    retainedRange(): EntryRange | null {
      const { keep_ms, first, last } = select.get(null) ?? {}
      if (keep_ms == null || last === undefined) return null
      return { keepMs: Number(keep_ms), first: Number(first ?? last + 1n), last: Number(last) }
    },
    times: (after: number, limit: number) => times.all(after, limit),
    /** The cursor of the last entry; undefined if there is none. Cheaper than a read. */
    lastCursor() {
      const row = last.get()
      return row ? toCursor(row.log, row) : undefined
    },
  }
}

// Entries per removal: they cost less than a commit of many changes.
const MAX_REMOVAL = 1000

/** Prepares the statements that write the change log, within an open transaction. */
export function prepareChangeLogWriter(db: Database) {
  const select = db.query<{ last: bigint; keep_ms: bigint }, []>(
    'SELECT last, keep_ms FROM change_log WHERE log IS NOT NULL',
  )
  const insert = db.query<
    never,
    [number: number, at: number, mark: bigint, plant: number | bigint, ...EntryTexts]
  >(`INSERT INTO changes (number, at, mark, plant, action, before, after, token, address, request)
     VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?)`)
  const advance = db.query<never, [number, number]>(
    `UPDATE change_log SET last = ?1,
       bytes = bytes + (SELECT total(${ENTRY_BYTES}) FROM changes WHERE number > ?2)`,
  )
  const oldest = db.query<{ number: bigint; at: bigint; mark: bigint; bytes: bigint }, [number]>(
    `SELECT number, at, mark, ${ENTRY_BYTES} AS bytes FROM changes ORDER BY number LIMIT ?`,
  )
  const removeUpTo = db.query<never, [bigint]>('DELETE FROM changes WHERE number <= ?')
  const shrink = db.query<never, [bigint, bigint]>(
    'UPDATE change_log SET start_mark = ?, bytes = bytes - ?',
  )

  return {
    /** Adds entries, if a change log is kept. */
    add(entries: readonly NewEntry[]) {
      const state = entries.length > 0 ? select.get() : null
      if (!state) return
      const lastNumber = Number(state.last)
      const at = Date.now()
      const mark = newMark()
      let number = lastNumber
      for (const entry of entries) {
        number += 1
        // A number is cheaper than a bigint.
        const plant = typeof entry.plant === 'number' ? entry.plant : BigInt(entry.plant)
        insert.run(number, at, mark, plant, ...entryTexts(entry))
      }
      advance.run(number, lastNumber)
    },
    /** Removes some of the entries up to a number: see `RetainedLog`. */
    remove(upTo: number) {
      const state = select.get()
      if (!state) return
      const now = Date.now()
      const isYoung = (at: number) => at >= now - Number(state.keep_ms) && at <= now
      let newest: { number: bigint; mark: bigint } | undefined
      let bytes = 0n
      for (const entry of oldest.all(MAX_REMOVAL)) {
        if (Number(entry.number) > upTo || isYoung(Number(entry.at))) break
        newest = entry
        bytes += entry.bytes
      }
      if (!newest) return
      removeUpTo.run(newest.number)
      shrink.run(newest.mark, bytes)
    },
  }
}

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
