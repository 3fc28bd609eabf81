// The SQL that reads the change log.

import type { Database } from 'bun:sqlite'
import type {
  ChangeLogEntry,
  ChangeLogPage,
  ChangeLogStats,
  HistoryPage,
  ReadOptions,
} from '../../../change-log/change-log'
import {
  type ChangeLogRow,
  ENTRY_COLUMNS,
  type EntryRow,
  endOf,
  entryLength,
  MAX_ENTRIES,
  numberAfter,
  numberBefore,
  pageAfter,
  placeOf,
  toChangeLogEntry,
  toChangeLogState,
  toCursor,
} from '../../../change-log/entry'
import type { EntryRange, EntryTime } from '../../../change-log/retention'
import type { Int64 } from '../../../plant/plant'
import { PAGE_LENGTH } from '../../page'

/** The last entry that a batch adds: shows whether the batch was made. Its mark is in digits, as messages are JSON. */
export type LastEntry = { readonly number: number; readonly mark: string }

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
  /** True if the change log has this entry. */
  has(entry: LastEntry): boolean
}

/** Prepares the statements that read the change log. */
export function prepareChangeLogReader(db: Database): ChangeLogReader {
  const select = db.query<StateRow, [entry: number | null]>(
    `SELECT log, keep_ms, last, bytes, number AS first, at, start_mark,
       (SELECT mark FROM changes WHERE number = last) AS last_mark,
       (SELECT mark FROM changes WHERE number = ?) AS mark
     FROM change_log LEFT JOIN (SELECT number, at FROM changes ORDER BY number LIMIT 1)`,
  )
  const selectAfter = db.query<EntryRow, [number, number]>(
    `SELECT ${ENTRY_COLUMNS} FROM changes WHERE number > ?1 ORDER BY number LIMIT ?2`,
  )
  const selectBefore = db.query<EntryRow, [number, number]>(
    `SELECT ${ENTRY_COLUMNS} FROM changes WHERE number < ?1 ORDER BY number DESC LIMIT ?2`,
  )
  const selectOfPlant = db.query<EntryRow, [number, number, bigint]>(
    `SELECT ${ENTRY_COLUMNS} FROM changes WHERE plant = ?3 AND number < ?1 ORDER BY number DESC LIMIT ?2`,
  )
  const times = db.query<EntryTime, [number, number]>(
    'SELECT number, at FROM changes WHERE number > ? ORDER BY number LIMIT ?',
  )
  const last = db.query<{ log: string; number: bigint; mark: bigint }, []>(
    'SELECT log, number, mark FROM change_log JOIN changes ON number = last WHERE log IS NOT NULL',
  )
  const markOf = db.query<{ mark: bigint }, [number]>('SELECT mark FROM changes WHERE number = ?')

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
    has: ({ number, mark }) => String(markOf.get(number)?.mark) === mark,
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
