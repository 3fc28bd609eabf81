// The SQL that reads plants and their tags.

import type { Database } from 'bun:sqlite'
import { charactersOf, type Int64, type Plant } from '../../plant/plant'
import type { Page, PlantQuery, TagPage, TagQuery } from '../../plant/plants'
import { type PlantRecord, plantOf } from '../../plant/row'
import {
  compileFilter,
  type FilterDialect,
  firstId,
  PAGE_LENGTH,
  placeAfter,
  SQL_ORDERS,
  takeRows,
} from '../page'

// The maximum size of a part of an export.
const PART_PLANTS = 1000

/** A plant read by a query; `hit` is 0 if it does not match the search. */
type ScannedRow = PlantRecord & { readonly hit?: bigint }

const DIALECT: FilterDialect = {
  placeholder: (place) => `?${place}`,
  tagEquals: (value) => `tag = ${value}`,
  // SQLite's lower() changes A to Z only.
  nameContains: (value) => `instr(lower(name), lower(${value})) > 0`,
}

/**
 * Prepares the queries of a database's plants. Each query is a range scan, so a page costs the same at any table size.
 */
export function preparePlants(db: Database) {
  // Of all columns: an older schema may lack some.
  const one = db.query<PlantRecord, [bigint]>('SELECT * FROM plants WHERE id = ?')

  return {
    read(id: Int64): Plant | null {
      const row = one.get(id)
      return row && plantOf(row)
    },
    list(query: PlantQuery): Page {
      const { limit, order = 'asc' } = query
      const first = firstId(query)
      if (first === null) return { plants: [], next: null }
      const { from, by } = SQL_ORDERS[order]
      const { range, hit, values, maxScanned } = compileFilter(query, DIALECT, 2)
      const columns = hit === null ? '*' : `*, ${hit} AS hit`
      // Cached by its text.
      const page = db.query<ScannedRow, [bigint, number, ...string[]]>(
        `SELECT ${columns} FROM plants WHERE id ${from} ?1${range} ORDER BY ${by} LIMIT ?2`,
      )
      const isHit = (row: ScannedRow) => row.hit !== 0n
      let hits = 0
      const lengthOf = (row: ScannedRow): number => {
        if (isHit(row)) hits += 1
        // The last hit fills the page.
        return hits === limit ? PAGE_LENGTH + 1 : charactersOf(row)
      }
      // One extra row shows whether there is a next page.
      const scanned = page.iterate(first, maxScanned + 1, ...values)
      const { rows, following } = takeRows(scanned, maxScanned, lengthOf)
      const last = rows.at(-1)
      const plants = rows.filter(isHit).map(plantOf)
      return { plants, next: last && following ? last.id : null }
    },
    /** Counts a page of tags by their index, in one query: a page of the only tags reads the index of all plants. */
    tags({ after = null, limit }: TagQuery): TagPage {
      const page = db.query<{ tag: string; plants: bigint }, [string, number]>(
        `SELECT tag, count(*) AS plants FROM plants WHERE tag ${after === null ? '>=' : '>'} ?1
         GROUP BY tag ORDER BY tag LIMIT ?2`,
      )
      const counted = page.iterate(after ?? '', limit + 1)
      const { rows, following } = takeRows(counted, limit, ({ tag }) => tag.length)
      const tags = rows.map(({ tag, plants }) => ({ tag, plants: Number(plants) }))
      const last = tags.at(-1)
      return { tags, next: last && following ? placeAfter(last.tag, following.tag) : null }
    },
  }
}

/** The number of plants as counted by commits; null unless there is exactly one row. */
export function countPlants(db: Database): number | null {
  const counts = db.query<{ plants: bigint }, []>('SELECT plants FROM change_log').all()
  return counts.length === 1 ? Number(counts[0]?.plants) : null
}

/** The plants as of one moment in ascending order of their ids, in parts that fit in memory. */
export function* allPlants(db: Database): Generator<readonly Plant[]> {
  const { list } = preparePlants(db)
  let limit = PART_PLANTS
  let after: Int64 | null = null
  while (true) {
    try {
      const page: Page = list({ after, limit })
      yield page.plants
      if (page.next === null) return
      after = page.next
    } catch (error) {
      // The plants before a damaged page are read one by one.
      if (limit === 1) throw error
      limit = 1
    }
  }
}
