// The SQL that reads plants.

import type { SQL } from 'bun'
import { type Int64, type Plant, TEXT_FIELDS } from '../../../plant/plant'
import type { Order, Page, PlantQuery } from '../../../plant/plants'
import {
  COLUMNS,
  type PlantRecord,
  type PlantRow,
  plantOf,
  type RowId,
  toPlant,
  toRow,
  toRowId,
} from '../../../plant/row'
import {
  type CompiledFilter,
  compileFilter,
  type FilterDialect,
  firstId,
  PAGE_LENGTH,
  SQL_ORDERS,
} from '../../page'
import type { Ask } from '../connection/connection'
import { bigints, rowsOf, type SqlResult, type Statement } from '../connection/statements'
import type { Rows } from './overlay'

/** The SQL expression of the size of texts in bytes. */
export const octetsOf = (texts: readonly string[]): string =>
  texts.map((name) => `coalesce(octet_length(${name}), 0)`).join(' + ')

const SELECT = `SELECT ${COLUMNS} FROM plants WHERE id = ANY($1::bigint[])`

/** Reads rows. */
export const readRows = (sql: SQL, ids: readonly RowId[]): Statement => [SELECT, bigints(sql, ids)]

/** Reads rows and locks them until the transaction ends, in ascending order, so that deadlocks are rare. */
export const lockRows = (sql: SQL, ids: readonly RowId[]): Statement => [
  `${SELECT} ORDER BY id FOR UPDATE`,
  bigints(sql, ids),
]

/** Like {@link lockRows}, without the rows that other sessions have locked. */
export const lockFreeRows = (sql: SQL, ids: readonly RowId[]): Statement => [
  `${SELECT} ORDER BY id FOR UPDATE SKIP LOCKED`,
  bigints(sql, ids),
]

/** Waits for locks of the whole table that prevent writes. */
export const LOCK_TABLE: Statement = ['LOCK TABLE plants IN ROW EXCLUSIVE MODE']

const COUNT = `SELECT plants + (SELECT coalesce(sum(added), 0) FROM lanes)::bigint AS plants FROM plant_count`

/** The number of plants as counted by commits; null unless there is exactly one row. */
export async function countPlants(sql: SQL): Promise<number | null> {
  const counts = await sql.unsafe<{ plants: bigint }[]>(COUNT)
  return counts.length === 1 ? Number(counts[0]?.plants) : null
}

export function toRows(answer: SqlResult | undefined): Rows {
  const rows = new Map<RowId, PlantRow>()
  for (const stored of rowsOf<PlantRecord>(answer)) {
    const row = toRow(stored)
    rows.set(row[0], row)
  }
  return rows
}

/** The stored rows with these ids. */
export async function selectRows(sql: SQL, ids: readonly (RowId | bigint)[]): Promise<Rows> {
  return toRows(await sql.unsafe<PlantRecord[]>(SELECT, [bigints(sql, ids)]))
}

/** Characters of a tag in the index, whose entries have at most 2704 bytes. See schema.sql. */
export const INDEXED_CHARACTERS = 200

/** `hit`: true if the row matches; the last one may not. `more`: true if there is a next page. */
type PageRow = PlantRecord & { readonly hit: boolean; readonly more: boolean }

const DIALECT: FilterDialect = {
  placeholder: (place) => `$${place}::text`,
  tagEquals: (value) =>
    `left(tag, ${INDEXED_CHARACTERS}) = left(${value}, ${INDEXED_CHARACTERS}) AND tag = ${value}`,
  // With the collation "C", on the column too, lower() changes A to Z only.
  nameContains: (value) => `strpos(lower(name), lower(${value} COLLATE "C")) > 0`,
}

// $1: the limit; $2: one row more, which shows whether there is a next page; $3: the first id. The server cuts a page
// that is too long, and sends the last row that it has read.
function pageStatement(order: Order, { range, hit }: CompiledFilter): string {
  const { from, by } = SQL_ORDERS[order]
  return `
  SELECT ${COLUMNS}, hit, more FROM (
    SELECT ${COLUMNS}, hit, place, max(place) OVER () AS last, count(*) OVER () < walked AS more FROM (
      SELECT ${COLUMNS}, hit, count(*) OVER () AS walked, row_number() OVER ids AS place,
        count(*) FILTER (WHERE hit) OVER ids - hit::int AS found,
        sum(${octetsOf(TEXT_FIELDS)})
          OVER (ids ROWS BETWEEN UNBOUNDED PRECEDING AND 1 PRECEDING) AS length
      FROM (
        SELECT ${COLUMNS}, ${hit ?? 'true'} AS hit FROM plants
        WHERE id ${from} $3::bigint${range} ORDER BY ${by} LIMIT $2::bigint
      ) AS read WINDOW ids AS (ORDER BY ${by})
    ) AS counted
    WHERE place < $2::bigint AND found < $1::bigint AND coalesce(length, 0) <= ${PAGE_LENGTH}
  ) AS page WHERE hit OR place = last ORDER BY ${by}`
}

/** Reads a page of plants. */
export async function listPlants(sql: SQL, query: PlantQuery): Promise<Page> {
  const first = firstId(query)
  if (first === null) return { plants: [], next: null }
  const { limit, order = 'asc' } = query
  const filter = compileFilter(query, DIALECT, 3)
  const rows = await sql.unsafe<PageRow[]>(pageStatement(order, filter), [
    ...[limit, filter.maxScanned + 1, first],
    ...filter.values,
  ])
  const plants = rows.filter(({ hit }) => hit).map(plantOf)
  const last = rows.at(-1)
  return { plants, next: last?.more ? last.id : null }
}

/** Returns a function that reads a plant by its id; the calls of one turn of the event loop share a query. */
export function shareReads(ask: Ask): (id: Int64) => Promise<Plant | null> {
  let shared: { readonly ids: Set<Int64>; readonly rows: Promise<Rows> } | null = null

  function begin() {
    const ids = new Set<Int64>()
    const { promise: turn, resolve } = Promise.withResolvers<void>()
    setImmediate(() => {
      shared = null
      resolve()
    })
    const rows = turn.then(() => ask((sql) => selectRows(sql, [...ids])))
    return { ids, rows }
  }

  return async (id) => {
    shared ??= begin()
    shared.ids.add(id)
    const row = (await shared.rows).get(toRowId(id))
    return row ? toPlant(row) : null
  }
}
