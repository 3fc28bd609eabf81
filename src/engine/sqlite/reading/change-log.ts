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
} from '../../../change-log/change-log'
import {
  type ChangeLogRow,
  createLinkCheck,
  ENTRY_COLUMNS,
  type EntryRow,
  type EntryTexts,
  endOf,
  entryLength,
  entryTexts,
  type FoundNumbers,
  isWhole,
  LACKS_ENTRIES,
  type Link,
  MAX_ENTRIES,
  type NewEntry,
  newChangeLogName,
  newMark,
  numberIn,
  OR_NOW,
  pageAfter,
  placeOf,
  toChangeLogEntry,
  toChangeLogState,
} from '../../../change-log/entry'
import { PAGE_LENGTH } from '../../../plant/page'
import { type Int64, TEXT_FIELDS } from '../../../plant/plant'

// Minimum number of entries per removal. As many are removed as were added since the last one, so that removal keeps
// up, but at most as many as cost less than a commit of many changes.
const REMOVED_AT_ONCE = 200
const MAX_REMOVED_AT_ONCE = 2000

// The bytes of an entry in SQL, numbers included.
const BYTES = `48 + octet_length(action) + ${['before', 'after', 'token', 'address', 'request']
  .map((name) => `ifnull(octet_length(${name}), 0)`)
  .join(' + ')}`

/** The last entry that a batch adds: shows whether the batch was made. Its mark is in digits, as messages are JSON. */
export type LastEntry = { readonly number: number; readonly mark: string }

/** Writes the change log, within an open transaction. */
type ChangeLogWriter = {
  /** Adds entries, if a change log is kept, and returns the last one. */
  add(entries: readonly NewEntry[]): LastEntry | null
  /** Removes some of the entries older than a time, oldest first. */
  remove(time: number): void
}

/** Prepares the statements that write the change log. */
export function prepareChangeLogWriter(db: Database): ChangeLogWriter {
  const select = db.query<{ last: bigint }, []>('SELECT last FROM change_log WHERE log IS NOT NULL')
  const insert = db.query<
    never,
    [number: number, at: number, mark: bigint, plant: number | bigint, ...EntryTexts]
  >(`INSERT INTO changes (number, at, mark, plant, action, before, after, token, address, request)
     VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?)`)
  const advance = db.query<never, [number, number]>(
    `UPDATE change_log SET last = ?1,
       bytes = bytes + (SELECT total(${BYTES}) FROM changes WHERE number > ?2)`,
  )
  const oldest = db.query<{ number: bigint; at: bigint; mark: bigint; bytes: bigint }, [number]>(
    `SELECT number, at, mark, ${BYTES} AS bytes FROM changes ORDER BY number LIMIT ?`,
  )
  const removeUpTo = db.query<never, [bigint]>('DELETE FROM changes WHERE number <= ?')
  const shrink = db.query<never, [bigint, bigint]>(
    'UPDATE change_log SET start_mark = ?, bytes = bytes - ?',
  )
  // The last number when entries were last removed.
  let removedAt: number | undefined

  return {
    add(entries) {
      const state = entries.length > 0 ? select.get() : null
      if (!state) return null
      const before = Number(state.last)
      const at = Date.now()
      const mark = newMark()
      let number = before
      for (const entry of entries) {
        number += 1
        // A number is cheaper than a bigint.
        const plant = typeof entry.plant === 'number' ? entry.plant : BigInt(entry.plant)
        insert.run(number, at, mark, plant, ...entryTexts(entry))
      }
      advance.run(number, before)
      return { number, mark: String(mark) }
    },
    remove(time) {
      const last = Number(select.get()?.last ?? 0)
      const most = Math.min(REMOVED_AT_ONCE + last - (removedAt ?? last), MAX_REMOVED_AT_ONCE)
      removedAt = last
      let newest: { number: bigint; mark: bigint } | undefined
      let bytes = 0n
      for (const entry of oldest.all(most)) {
        if (Number(entry.at) >= time) break
        newest = entry
        bytes += entry.bytes
      }
      if (!newest) return
      removeUpTo.run(newest.number)
      shrink.run(newest.mark, bytes)
    },
  }
}

/** The row of the change log; `at`: the time of its oldest entry. */
type StateRow = ChangeLogRow & {
  readonly keep_ms: bigint | null
  readonly bytes: bigint
  readonly at: bigint | null
}

/** Reads the change log; see {@link ChangeLog}. */
export type ChangeLogReader = {
  isKept(): boolean
  read(options: ReadOptions): ChangeLogPage
  history(id: Int64 | null, options: ReadOptions): HistoryPage
  stats(): ChangeLogStats
  /** The time before which entries are due for removal; null if there are none. */
  expired(now: number): number | null
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
  const after = db.query<EntryRow, [number, number]>(
    `SELECT ${ENTRY_COLUMNS} FROM changes WHERE number > ?1 ORDER BY number LIMIT ?2`,
  )
  const before = db.query<EntryRow, [number, number]>(
    `SELECT ${ENTRY_COLUMNS} FROM changes WHERE number < ?1 ORDER BY number DESC LIMIT ?2`,
  )
  const ofPlantBefore = db.query<EntryRow, [number, number, bigint]>(
    `SELECT ${ENTRY_COLUMNS} FROM changes WHERE plant = ?3 AND number < ?1 ORDER BY number DESC LIMIT ?2`,
  )
  const markOf = db.query<{ mark: bigint }, [number]>('SELECT mark FROM changes WHERE number = ?')

  return {
    isKept: () => select.get(null)?.log != null,
    read({ after: cursor, limit }) {
      const found = toChangeLogState(select.get(numberIn(cursor, OR_NOW)))
      const place = placeOf(cursor, found)
      const rows: EntryRow[] = []
      let length = 0
      for (const row of after.iterate(place.number, Math.min(limit, MAX_ENTRIES))) {
        rows.push(row)
        length += entryLength(row)
        if (length > PAGE_LENGTH) break
      }
      return pageAfter(place, rows, found, cursor)
    },
    history(id, { after: cursor, limit }) {
      const found = toChangeLogState(select.get(numberIn(cursor)))
      const most = Math.min(limit, MAX_ENTRIES)
      const entries: ChangeLogEntry[] = []
      let length = 0
      const end = endOf(cursor, found)
      // One extra row shows whether there is a next page.
      const rows =
        id === null ? before.iterate(end, most + 1) : ofPlantBefore.iterate(end, most + 1, id)
      for (const row of rows) {
        const last = entries.at(-1)
        if (last && (entries.length === most || length > PAGE_LENGTH)) {
          return { entries, next: last.cursor }
        }
        entries.push(toChangeLogEntry(found.name, row))
        length += entryLength(row)
      }
      return { entries }
    },
    stats() {
      const row = select.get(null)
      const { start, last } = toChangeLogState(row)
      const oldestAt = row?.at == null ? null : Number(row.at)
      return { entries: last.number - start.number, oldestAt, bytes: Number(row?.bytes) }
    },
    expired(now) {
      const { keep_ms, at } = select.get(null) ?? {}
      if (keep_ms == null || at == null) return null
      const time = now - Number(keep_ms)
      return Number(at) < time ? time : null
    },
    has: ({ number, mark }) => String(markOf.get(number)?.mark) === mark,
  }
}

/**
 * Begins or ends the change log, or changes its retention period. Returns the number of entries removed if it was
 * ended; else null. Only the daemon, which holds the lock, may call it.
 */
export function keepChanges(db: Database, keep: KeepChanges): number | null {
  if (keep === null) return null
  const isAsAsked = db
    .query<{ same: bigint }, [number | null]>('SELECT keep_ms IS ? AS same FROM change_log')
    .get(keep === 'off' ? null : keep)
  if (isAsAsked?.same === 1n) return null
  const change = db.transaction(() => {
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

/** Renames the change log, so that its old cursors expire. */
export function renameChangeLog(db: Database): void {
  if (!db.query(`SELECT 1 FROM sqlite_schema WHERE name = 'change_log'`).get()) return
  db.run('UPDATE change_log SET log = ? WHERE log IS NOT NULL', [newChangeLogName()])
}

type Sums = FoundNumbers & { readonly bytes: bigint; readonly sum: bigint }

/** Problems of the change log: missing entries, or entries that do not lead to the stored plants. */
export function* changeLogProblems(db: Database): Generator<string> {
  const sums = db
    .query<Sums, []>(
      `SELECT last, bytes, count(number) AS count, min(number) AS first, max(number) AS top,
         CAST(ifnull(sum(${BYTES}), 0) AS INTEGER) AS sum
       FROM change_log LEFT JOIN changes`,
    )
    .safeIntegers(true)
    .get()
  if (!sums || !isWhole(sums)) yield LACKS_ENTRIES
  if (sums?.bytes !== sums?.sum) yield 'the recorded size of the change log is wrong'
  const links = db
    .query<Link, []>(
      `SELECT number, plant, before, after, ${TEXT_FIELDS} FROM changes LEFT JOIN plants ON id = plant
       ORDER BY plant, number`,
    )
    .safeIntegers(true)
  const { see, end } = createLinkCheck()
  for (const link of links.iterate()) yield* see(link)
  yield* end()
}
