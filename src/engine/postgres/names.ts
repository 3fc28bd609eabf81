// Plants by the beginning of their names, and the indexes that it takes: they are there only where an operator asks for them.

import type { SQL } from 'bun'
import type { NameQuery, PlantPage } from '../../store'
import type { Role } from '../role'
import { plantOf, type StoredPlant } from '../row'
import { INDEXED_CHARACTERS, PAGE_BYTES } from './plants'

const SHORT = `char_length(name) <= ${INDEXED_CHARACTERS}`
const BEGINNING = `left(name, ${INDEXED_CHARACTERS})`

// An entry of an index has at most 2704 bytes: long names are sorted by the server, among those that begin alike.
const indexes = [
  ['plants_by_name', `(name, id) WHERE ${SHORT}`],
  ['plants_by_long_name', `(${BEGINNING}, id) WHERE NOT (${SHORT})`],
] as const

// Any number, the same in every process.
const MAKING = 7_024_862_155

/**
 * Makes the indexes, where the role wants them, while others go on writing. They are never dropped: another process may need
 * them.
 */
export async function arrangeNameIndex(sql: SQL, { nameIndex, log }: Role): Promise<void> {
  if (nameIndex !== 'make') return
  await sql.unsafe(`SELECT pg_advisory_lock(${MAKING})`)
  try {
    for (const [name, columns] of indexes) {
      const [index] = await sql.unsafe<{ indisvalid: boolean }[]>(
        'SELECT indisvalid FROM pg_index WHERE indexrelid = to_regclass($1)',
        [name],
      )
      if (index?.indisvalid) continue
      // What a process has left that was killed while it made one.
      if (index) await sql.unsafe(`DROP INDEX ${name}`)
      log('info', 'name-index-making')
      const started = performance.now()
      await sql.unsafe(`CREATE INDEX CONCURRENTLY ${name} ON plants ${columns}`)
      const seconds = Math.ceil((performance.now() - started) / 1000)
      log('info', 'name-index-made', { seconds })
    }
  } finally {
    await sql.unsafe(`SELECT pg_advisory_unlock(${MAKING})`)
  }
}

type PageRow = StoredPlant & { readonly found: bigint }

const COLUMNS = 'SELECT id, name, tag FROM plants'

// $1 and $2: the prefix, and a text behind all that begin with it; $3: one more than the limit.
const find = (after: string, from: string) => `SELECT id, name, tag, found FROM (
    SELECT id, name, tag, count(*) OVER () AS found, row_number() OVER names AS place,
      sum(octet_length(name) + coalesce(octet_length(tag), 0))
        OVER (names ROWS BETWEEN UNBOUNDED PRECEDING AND 1 PRECEDING) AS before
    FROM (
      SELECT * FROM (
        (${COLUMNS} WHERE ${SHORT} AND name >= $1::text AND name <= $2::text ${after}
          ORDER BY name, id LIMIT $3::bigint)
        UNION ALL
        (${COLUMNS} WHERE NOT (${SHORT}) AND starts_with(name, $1::text) ${after}
          AND ${BEGINNING} >= left(${from}, ${INDEXED_CHARACTERS})
          AND ${BEGINNING} <= left($2::text, ${2 * INDEXED_CHARACTERS})
          ORDER BY ${BEGINNING}, name, id LIMIT $3::bigint)
      ) AS both_kinds ORDER BY name, id LIMIT $3::bigint
    ) AS most WINDOW names AS (ORDER BY name, id)
  ) AS page
  WHERE place < $3::bigint AND coalesce(before, 0) <= ${PAGE_BYTES} ORDER BY name, id`

const FIRST = find('', '$1::text')
const BEHIND = find('AND (name, id) > ($4::text, $5::bigint)', '$4::text')

/** Reads a page of the plants whose names begin with a prefix, in the order of the names' bytes. */
export async function findPlants(sql: SQL, query: NameQuery): Promise<PlantPage> {
  const { prefix, after, limit } = query
  const end = prefix + '\u{10FFFF}'.repeat(INDEXED_CHARACTERS)
  const values = [prefix, end, limit + 1, ...(after ? [after.name, after.id] : [])]
  const rows = await sql.unsafe<PageRow[]>(after ? BEHIND : FIRST, values)
  return { plants: rows.map(plantOf), hasMore: Number(rows[0]?.found ?? 0) > rows.length }
}
