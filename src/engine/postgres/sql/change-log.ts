// The SQL of the change log. Each commit advances the one row of `change_log` last, and locks it until it is durable:
// so the numbers follow the order of commits of all processes, without gaps. A sequence would not.

import type { SQL } from 'bun'
import {
  type ChangeLogRow,
  ENTRY_COLUMNS,
  type EntryRow,
  entryTexts,
  type NewEntry,
  newMark,
  toCursor,
} from '../../../change-log/entry'
import type { EntryTime } from '../../../change-log/retention'
import type { ChangeLogQueries, LogSize } from '../../change-log-reader'
import { PAGE_LENGTH } from '../../page'
import type { Ask } from '../connection/connection'
import {
  columnsFrom,
  columnsOf,
  rowsOf,
  type SqlResult,
  type Statement,
} from '../connection/statements'

const REMOVED_AT_ONCE = 500

// The row of `change_log`, by its key, past the old versions that a snapshot keeps.
const NEWEST = '(SELECT * FROM change_log ORDER BY last DESC LIMIT 1) AS newest'

/** Milliseconds since 1970, by the server's clock. */
const NOW_MS = '(extract(epoch FROM clock_timestamp()) * 1000)::bigint'

const ENTRY_TEXTS = ['action', 'before', 'after', 'token', 'address', 'request'] as const

/** Entries as parameters from `first` on: rows named `e`, ordered by `place`. */
const entriesFrom = (first: number): string =>
  `${columnsFrom(first, ENTRY_TEXTS)} WITH ORDINALITY AS e (plant, ${ENTRY_TEXTS}, place)`

/** The entries as parameters, and last the mark of their commit. */
export const entryColumns = (sql: SQL, entries: readonly NewEntry[], mark: bigint) => {
  const rows = entries.map((entry) => [entry.plant, ...entryTexts(entry)] as const)
  return [...columnsOf(sql, ENTRY_TEXTS, rows), mark]
}

/** The place of the last entry, from the query `advanced`; null if none was added. */
export const LAST_PLACE = '(SELECT last FROM advanced), (SELECT log FROM advanced)'

/** The cursor of the last entry that a statement with {@link LAST_PLACE} has added; undefined if there is none. */
export function cursorIn(answer: SqlResult | undefined, mark: bigint): string | undefined {
  const [row] = rowsOf<{ last: bigint | null; log: string | null }>(answer)
  if (row?.last == null || row.log === null) return undefined
  return toCursor(row.log, { number: row.last, mark })
}

/**
 * Two queries to follow WITH: advance the last number by `count`, then insert the entries (`added`), which are
 * parameters from `first` on. `only` limits them.
 */
export const advanceAndAdd = (count: string, first: number, only = ''): string => `
  advanced AS (
    UPDATE change_log SET last = last + ${count} WHERE last >= (SELECT last FROM change_log ORDER BY last DESC LIMIT 1)
      AND log IS NOT NULL AND ${count} > 0 RETURNING last, log
  ), added AS (
    INSERT INTO changes (number, at, plant, ${ENTRY_TEXTS}, mark)
    SELECT last - ${count} + row_number() OVER (ORDER BY place), ${NOW_MS}, plant, ${ENTRY_TEXTS},
      $${first + 1 + ENTRY_TEXTS.length}::bigint
    FROM advanced, ${entriesFrom(first)} ${only}
    RETURNING number
  )`

const COUNT = 'cardinality($1::bigint[])'
// If the row is gone, the division fails, and the transaction with it.
const ADD = `WITH ${advanceAndAdd(COUNT, 1)}
  SELECT 1 / (count(*) = ${COUNT})::int, ${LAST_PLACE} FROM added`

/** Adds entries; the last statement of a transaction. */
export const addEntries = (sql: SQL, entries: readonly NewEntry[], mark = newMark()): Statement => [
  ADD,
  ...entryColumns(sql, entries, mark),
]

const LENGTH = 'coalesce(octet_length(before), 0) + coalesce(octet_length(after), 0)'

// The server limits the length of a page.
const pageStatement = (where: string, order: string) => `
  SELECT ${ENTRY_COLUMNS}, found FROM (
    SELECT ${ENTRY_COLUMNS}, count(*) OVER () AS found, sum(${LENGTH}) OVER (
      ORDER BY ${order} ROWS BETWEEN UNBOUNDED PRECEDING AND 1 PRECEDING) AS length
    FROM (SELECT ${ENTRY_COLUMNS} FROM changes WHERE ${where} ORDER BY ${order} LIMIT $2::bigint) AS read
  ) AS measured WHERE coalesce(length, 0) <= ${PAGE_LENGTH} ORDER BY ${order}`

// Excludes entries of another change log begun in the meantime.
const PAGE_AFTER = pageStatement(
  `number > $1::bigint AND (SELECT log FROM ${NEWEST}) = $3`,
  'number',
)
const HISTORY = pageStatement('$1::bigint IS NULL AND number < $3::bigint', 'number DESC')
const HISTORY_OF_PLANT = pageStatement('plant = $1::bigint AND number < $3::bigint', 'number DESC')

const SIZE = `SELECT (SELECT at FROM changes ORDER BY number LIMIT 1) AS at,
  pg_total_relation_size('changes') AS bytes`

/** `found`: the number of entries within the limit, including those beyond the page length. */
type FoundRow = EntryRow & { readonly found: bigint }

const STATE = `
  SELECT log, last, keep_ms, (SELECT min(number) FROM changes) AS first, start.mark AS start_mark,
    (SELECT mark FROM changes WHERE number = last) AS last_mark,
    (SELECT mark FROM changes WHERE number = $1::bigint) AS mark
  FROM ${NEWEST}, change_log_start AS start`

/** The queries of the change log. */
export const changeLogQueries = (ask: Ask): ChangeLogQueries => ({
  async row(entry) {
    const [row] = await ask((sql) => sql.unsafe<ChangeLogRow[]>(STATE, [entry]))
    return row
  },
  after: (number, limit, changeLog) =>
    ask((sql) => sql.unsafe<FoundRow[]>(PAGE_AFTER, [number, limit, changeLog])),
  async before(number, limit, plant) {
    const statement = plant === null ? HISTORY : HISTORY_OF_PLANT
    // One extra row shows whether there is a next page.
    const found = await ask((sql) => sql.unsafe<FoundRow[]>(statement, [plant, limit + 1, number]))
    const rows = found.slice(0, limit)
    return { rows, isFull: Number(found[0]?.found) > rows.length }
  },
  async size() {
    const [row] = await ask((sql) => sql.unsafe<LogSize[]>(SIZE))
    return row
  },
})

// A transaction that waits for neither the disk nor a standby: an entry restored by a crash is removed again. It takes
// no lock that commits need.
const REMOVE = `
  WITH quick AS MATERIALIZED (SELECT set_config('synchronous_commit', 'off', true) AS commits),
  oldest AS (SELECT number, at, mark FROM changes ORDER BY number LIMIT $1::bigint),
  period AS (SELECT ${NOW_MS} AS now, keep_ms FROM ${NEWEST}),
  kept AS (
    SELECT coalesce(
      min(number) FILTER (WHERE number > $2::bigint OR at BETWEEN now - keep_ms AND now), max(number) + 1
    ) AS first FROM oldest, period
  ),
  newest AS (SELECT number, mark FROM oldest, kept WHERE number < first ORDER BY number DESC LIMIT 1),
  moved AS (
    UPDATE change_log_start AS start SET number = newest.number, mark = newest.mark
    FROM newest, quick WHERE commits = 'off' AND start.number < newest.number
  )
  DELETE FROM changes USING quick, kept WHERE commits = 'off' AND number < first RETURNING number`

/** Removes a few entries up to a number: see `RetainedLog`. */
export const removeEntries = (sql: SQL, upTo: number) => sql.unsafe(REMOVE, [REMOVED_AT_ONCE, upTo])

/** See `RetainedLog`. */
export const entryTimes = (sql: SQL, after: number, limit: number) =>
  sql<EntryTime[]>`
    SELECT number, at FROM changes WHERE number > ${after} ORDER BY number LIMIT ${limit}`

/** Reads the place of the change log, and removes no entries. Each fails if a privilege, a table or a column is missing. */
export const READ_PLACE: Statement = [STATE, null]
export const REMOVE_NOTHING: Statement = [REMOVE, 0, 0]
