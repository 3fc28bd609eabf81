// The SQL that reads plants.

import type { SQL } from 'bun'
import type { Int64, NewPlant } from '../../plant'
import type { PlantPage, PlantQuery } from '../../store'
import { plantOf, type StoredPlant, toPlant, toRowId } from '../row'
import type { Connection } from './connection'
import { selectRows } from './rows'

// A page ends with the plant that takes it beyond this length: 1000 of the longest plants would take gigabytes of memory.
export const PAGE_BYTES = 250_000

/** Characters of a tag that are indexed: an entry of an index has at most 2704 bytes. */
export const INDEXED_CHARACTERS = 200

type PageRow = StoredPlant & { readonly found: bigint }

// One more row than asked for shows whether there is a next page; the server cuts off what is too long.
const page = (where: string) => `SELECT id, name, tag, found FROM (
    SELECT id, name, tag, count(*) OVER () AS found, row_number() OVER (ORDER BY id) AS place,
      sum(octet_length(name) + coalesce(octet_length(tag), 0))
        OVER (ORDER BY id ROWS BETWEEN UNBOUNDED PRECEDING AND 1 PRECEDING) AS before
    FROM (SELECT id, name, tag FROM plants WHERE ${where} ORDER BY id LIMIT $1::bigint + 1) AS most
  ) AS page
  WHERE place <= $1::bigint AND coalesce(before, 0) <= ${PAGE_BYTES} ORDER BY id`

const OF_TAG = (parameter: string) =>
  `left(tag, ${INDEXED_CHARACTERS}) = left(${parameter}, ${INDEXED_CHARACTERS}) AND tag = ${parameter}`

const FIRST = page('true')
const AFTER = page('id > $2::bigint')
const FIRST_OF_TAG = page(OF_TAG('$2::text'))
const AFTER_OF_TAG = page(`${OF_TAG('$2::text')} AND id > $3::bigint`)

function statementOf({ after, limit, tag }: PlantQuery): readonly [string, unknown[]] {
  if (tag === null) return after === null ? [FIRST, [limit]] : [AFTER, [limit, after]]
  return after === null ? [FIRST_OF_TAG, [limit, tag]] : [AFTER_OF_TAG, [limit, tag, after]]
}

/** Reads a page of plants. */
export async function listPlants(sql: SQL, query: PlantQuery): Promise<PlantPage> {
  const [text, values] = statementOf(query)
  const rows = await sql.unsafe<PageRow[]>(text, values)
  return { plants: rows.map(plantOf), hasMore: Number(rows[0]?.found ?? 0) > rows.length }
}

/** Returns a function that reads plants by their ids: those asked for in one turn of the event loop share a query. */
export function shareReads(
  read: <T>(ask: (it: Connection) => Promise<T>) => Promise<T>,
): (id: Int64) => Promise<NewPlant | null> {
  let shared: { readonly ids: Set<Int64>; readonly rows: ReturnType<typeof selectRows> } | null =
    null

  function begin() {
    const ids = new Set<Int64>()
    const { promise: turn, resolve } = Promise.withResolvers<void>()
    setImmediate(() => {
      shared = null
      resolve()
    })
    const rows = turn.then(() => read(({ sql }) => selectRows(sql, [...ids])))
    return { ids, rows }
  }

  return async (id) => {
    shared ??= begin()
    shared.ids.add(id)
    const row = (await shared.rows).get(toRowId(id))
    return row ? toPlant(row) : null
  }
}
