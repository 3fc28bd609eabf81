// The SQL of the change log. Its numbers have no gaps: the row of `change_log` has the last one, which each commit
// advances.

import type { Database } from 'bun:sqlite'
import type {
  ChangeLogEntry,
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
import { refuseTriggers, requireOne } from './schema'

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

/** Reads the change log; see {@link ChangeLog}. */
export type ChangeLogReader = {
  /** Reads no entry: a daemon also starts if a page of entries is damaged. */
  isKept(): boolean
  read(options: ReadOptions): ChangeLogPage
  history(id: Int64 | null, options: ReadOptions): HistoryPage
  stats(): ChangeLogStats
  /** See `RetainedLog`. */
  retainedRange(): EntryRange | null
  times(after: number, limit: number): EntryTime[]
  /** The cursor of the last entry; undefined if there is none. Cheaper than a read. */
  lastCursor(): string | undefined
}

/** Prepares the statements that read the change log. */
export function prepareChangeLogReader(db: Database): ChangeLogReader {
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
    isKept: () => db.query('SELECT 1 FROM change_log WHERE log IS NOT NULL').get() !== null,
    read({ after: cursor, limit }) {
      const state = toChangeLogState(select.get(numberAfter(cursor)))
      const place = placeOf(cursor, state)
      const rows: EntryRow[] = []
      let length = 0
      for (const row of selectAfter.iterate(place.number, Math.min(limit, MAX_ENTRIES))) {
        rows.push(row)
        length += entryLength(row)
        if (length > PAGE_LENGTH) break
      }
      return pageAfter(place, rows, state, cursor)
    },
    history(id, { after: cursor, limit }) {
      const state = toChangeLogState(select.get(numberBefore(cursor)))
      const maxEntries = Math.min(limit, MAX_ENTRIES)
      const entries: ChangeLogEntry[] = []
      let length = 0
      const end = endOf(cursor, state)
      // One extra row shows whether there is a next page.
      const rows =
        id === null
          ? selectBefore.iterate(end, maxEntries + 1)
          : selectOfPlant.iterate(end, maxEntries + 1, id)
      for (const row of rows) {
        const last = entries.at(-1)
        if (last && (entries.length === maxEntries || length > PAGE_LENGTH)) {
          return { entries, next: last.cursor }
        }
        entries.push(toChangeLogEntry(state.name, row))
        length += entryLength(row)
      }
      return { entries }
    },
    stats() {
      const row = select.get(null)
      const { start, last } = toChangeLogState(row)
      const oldestAt = row?.at == null ? null : Number(row.at)
      const keepMs = Number(row?.keep_ms)
      return { entries: last.number - start.number, keepMs, oldestAt, bytes: Number(row?.bytes) }
    },
    retainedRange() {
      const { keep_ms, first, last } = select.get(null) ?? {}
      if (keep_ms == null || last === undefined) return null
      return { keepMs: Number(keep_ms), first: Number(first ?? last + 1n), last: Number(last) }
    },
    times: (after, limit) => times.all(after, limit),
    lastCursor() {
      const row = last.get()
      return row ? toCursor(row.log, row) : undefined
    },
  }
}

/** The line of a check that names the first entry whose fields cannot be parsed; none if all can. */
export const damagedEntries = (db: Database): string[] =>
  db
    .query<{ number: bigint }, []>(
      'SELECT number FROM changes WHERE json_valid(before) = 0 OR json_valid(after) = 0 LIMIT 1',
    )
    .all()
    .map(
      ({ number }) =>
        `entry ${number} of the change log is damaged; to begin a new one, restart with --keep-changes off, then with the period`,
    )

// Minimum number of entries per removal. As many are removed as were added since the last one, so that removal keeps
// up, but at most as many as cost less than a commit of many changes.
const MIN_REMOVAL = 200
const MAX_REMOVAL = 2000

/** Writes the change log, within an open transaction. */
type ChangeLogWriter = {
  /** Adds entries, if a change log is kept. */
  add(entries: readonly NewEntry[]): void
  /** Removes some of the entries up to a number: see `RetainedLog`. */
  remove(upTo: number): void
}

/** Prepares the statements that write the change log. */
export function prepareChangeLogWriter(db: Database): ChangeLogWriter {
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
  // The last number when entries were last removed.
  let lastAtRemoval: number | undefined

  return {
    add(entries) {
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
        requireOne(insert.run(number, at, mark, plant, ...entryTexts(entry)))
      }
      requireOne(advance.run(number, lastNumber))
    },
    remove(upTo) {
      const state = select.get()
      if (!state) return
      const last = Number(state.last)
      const now = Date.now()
      const isYoung = (at: number) => at >= now - Number(state.keep_ms) && at <= now
      const limit = Math.min(MIN_REMOVAL + last - (lastAtRemoval ?? last), MAX_REMOVAL)
      lastAtRemoval = last
      let newest: { number: bigint; mark: bigint } | undefined
      let bytes = 0n
      for (const entry of oldest.all(limit)) {
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
export const renameChangeLog = (db: Database): void =>
  void db.run('UPDATE change_log SET log = ? WHERE log IS NOT NULL', [newChangeLogName()])
