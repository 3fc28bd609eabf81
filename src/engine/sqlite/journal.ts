// The SQL of the log of changes. Its numbers have no gaps: each commit adds to the row that has the last.

import type { Database } from 'bun:sqlite'
import { TEXTS } from '../../plant/plant'
import type { ChangeLog, KeepChanges, LogStats } from '../../store'
import {
  createLinkCheck,
  ENTRY_COLUMNS,
  type Entry,
  type EntryRow,
  endOf,
  entryLength,
  entryTexts,
  isWhole,
  LACKS_ENTRIES,
  type Link,
  type LogRow,
  MOST_ENTRIES,
  newLogName,
  pageAfter,
  placeOf,
  toChange,
  toLogState,
} from '../journal/entry'
import { PAGE_LENGTH } from '../page'

// Entries that are removed at once, besides as many as were added since: so removal never falls behind. Less work than a commit
// of many changes.
const REMOVED_AT_ONCE = 200
const MOST_REMOVED_AT_ONCE = 2000

// The bytes of an entry in SQL, numbers included.
const BYTES = `40 + octet_length(action) + ${['before', 'after', 'token', 'address', 'request']
  .map((name) => `ifnull(octet_length(${name}), 0)`)
  .join(' + ')}`

/** The last entry that a batch adds: shows whether the batch was made. */
export type LastEntry = { readonly number: number; readonly at: number; readonly plant: string }

/** Prepares the writing of the log. Everything is within a transaction that is open. */
export function prepareLogWriter(db: Database) {
  const select = db.query<{ last: bigint }, []>('SELECT last FROM change_log WHERE log IS NOT NULL')
  const insert = db.query<
    never,
    [number, number, number | bigint, ...ReturnType<typeof entryTexts>]
  >(`INSERT INTO changes (number, at, plant, action, before, after, token, address, request)
     VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?)`)
  const advance = db.query<never, [number, number]>(
    `UPDATE change_log SET last = ?1,
       bytes = bytes + (SELECT total(${BYTES}) FROM changes WHERE number > ?2)`,
  )
  const oldest = db.query<{ number: bigint; at: bigint; bytes: bigint }, [number]>(
    `SELECT number, at, ${BYTES} AS bytes FROM changes ORDER BY number LIMIT ?`,
  )
  const remove = db.query<never, [bigint]>('DELETE FROM changes WHERE number <= ?')
  const shrink = db.query<never, [bigint]>('UPDATE change_log SET bytes = bytes - ?')
  // The end of the log when entries were last removed.
  let removedAt: number | undefined

  return {
    /** Adds entries, if a log is kept. */
    add(entries: readonly Entry[]): LastEntry | null {
      const [final] = entries.slice(-1)
      const state = final && select.get()
      if (!state) return null
      const before = Number(state.last)
      const at = Date.now()
      let number = before
      for (const entry of entries) {
        number += 1
        // A number is cheaper than a bigint.
        const plant = typeof entry.plant === 'number' ? entry.plant : BigInt(entry.plant)
        insert.run(number, at, plant, ...entryTexts(entry))
      }
      advance.run(number, before)
      return { number, at, plant: String(final.plant) }
    },
    /** Removes some of the entries that are older than a time, the oldest first. */
    forget(time: number): void {
      const last = Number(select.get()?.last ?? 0)
      const most = Math.min(REMOVED_AT_ONCE + last - (removedAt ?? last), MOST_REMOVED_AT_ONCE)
      removedAt = last
      let upTo: bigint | undefined
      let bytes = 0n
      for (const entry of oldest.all(most)) {
        if (Number(entry.at) >= time) break
        upTo = entry.number
        bytes += entry.bytes
      }
      if (upTo === undefined) return
      remove.run(upTo)
      shrink.run(bytes)
    },
  }
}

/** What the log says of itself; `at`: when its oldest entry took effect. */
type StateRow = LogRow & {
  readonly keep_ms: bigint | null
  readonly bytes: bigint
  readonly at: bigint | null
}

/** Prepares the reading of the log. */
export function prepareLogReader(db: Database) {
  const select = db.query<StateRow, []>(
    `SELECT log, keep_ms, last, bytes, number AS first, at FROM change_log
     LEFT JOIN (SELECT number, at FROM changes ORDER BY number LIMIT 1)`,
  )
  const after = db.query<EntryRow, [number, number]>(
    `SELECT ${ENTRY_COLUMNS} FROM changes WHERE number > ?1 ORDER BY number LIMIT ?2`,
  )
  const before = db.query<EntryRow, [bigint, number, number]>(
    `SELECT ${ENTRY_COLUMNS} FROM changes WHERE plant = ?1 AND number < ?2 ORDER BY number DESC LIMIT ?3`,
  )
  const one = db.query<{ at: bigint; plant: bigint }, [number]>(
    'SELECT at, plant FROM changes WHERE number = ?',
  )

  return {
    isKept: (): boolean => select.get()?.log != null,
    read({ after: cursor, limit }: Parameters<ChangeLog['read']>[0]) {
      const found = toLogState(select.get())
      const place = placeOf(cursor, found)
      const rows: EntryRow[] = []
      let length = 0
      for (const row of after.iterate(place, Math.min(limit, MOST_ENTRIES))) {
        rows.push(row)
        length += entryLength(row)
        if (length > PAGE_LENGTH) break
      }
      return pageAfter(place, rows, found, cursor)
    },
    history(id: bigint, { after: cursor, limit }: Parameters<ChangeLog['history']>[1]) {
      const found = toLogState(select.get())
      const most = Math.min(limit, MOST_ENTRIES)
      const changes: ReturnType<typeof toChange>[] = []
      let length = 0
      // One more than fits shows whether there is a next page.
      for (const row of before.iterate(id, endOf(cursor, found), most + 1)) {
        const last = changes.at(-1)
        if (last && (changes.length === most || length > PAGE_LENGTH)) {
          return { changes, next: last.cursor }
        }
        changes.push(toChange(found.log, row))
        length += entryLength(row)
      }
      return { changes }
    },
    stats(): LogStats {
      const row = select.get()
      const { first, last } = toLogState(row)
      const oldestAt = row?.at == null ? null : Number(row.at)
      return { entries: last - first + 1, oldestAt, bytes: Number(row?.bytes) }
    },
    /** The time before which entries are removed, if there are such entries; else null. */
    expired(now: number): number | null {
      const { keep_ms, at } = select.get() ?? {}
      if (keep_ms == null || at == null) return null
      const time = now - Number(keep_ms)
      return Number(at) < time ? time : null
    },
    has({ number, at, plant }: LastEntry): boolean {
      const found = one.get(number)
      return Number(found?.at) === at && String(found?.plant) === plant
    },
  }
}

/** Begins the log, ends it, or changes how long it is kept; returns whether it ended it. Only who holds the lock of the database may. */
export function keepChanges(db: Database, keep: KeepChanges): boolean {
  if (keep === null) return false
  const isAsAsked = db
    .query<{ same: bigint }, [number | null]>('SELECT keep_ms IS ? AS same FROM change_log')
    .get(keep === 'off' ? null : keep)
  if (isAsAsked?.same === 1n) return false
  db.transaction(() => {
    if (keep === 'off') {
      db.run('DELETE FROM changes')
      db.run('UPDATE change_log SET log = NULL, keep_ms = NULL, bytes = 0')
    } else {
      db.run('UPDATE change_log SET log = ifnull(log, ?), keep_ms = ?', [newLogName(), keep])
    }
  }).immediate()
  return keep === 'off'
}

/** Gives the log another name, so that no cursor of the old one is taken for one of it. */
export function renameLog(db: Database): void {
  if (!db.query(`SELECT 1 FROM sqlite_schema WHERE name = 'change_log'`).get()) return
  db.run('UPDATE change_log SET log = ? WHERE log IS NOT NULL', [newLogName()])
}

type Sums = Parameters<typeof isWhole>[0] & { readonly bytes: bigint; readonly sum: bigint }

/** What is wrong with the log: it lacks entries, or they do not tell how the plants came to be. */
export function* logProblems(db: Database): Generator<string> {
  const sums = db
    .query<Sums, []>(
      `SELECT last, bytes, count(number) AS count, min(number) AS first, max(number) AS top,
         CAST(ifnull(sum(${BYTES}), 0) AS INTEGER) AS sum
       FROM change_log LEFT JOIN changes`,
    )
    .safeIntegers(true)
    .get()
  if (!sums || !isWhole(sums)) yield LACKS_ENTRIES
  if (sums?.bytes !== sums?.sum) yield 'the log of changes has another size than it says'
  const links = db
    .query<Link, []>(
      `SELECT number, plant, before, after, ${TEXTS} FROM changes LEFT JOIN plants ON id = plant
       ORDER BY plant, number`,
    )
    .safeIntegers(true)
  const { see, end } = createLinkCheck()
  for (const link of links.iterate()) yield* see(link)
  yield* end()
}
