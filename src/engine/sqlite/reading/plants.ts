// The SQL that reads plants.

import type { Database } from 'bun:sqlite'
import { firstId, maxWalked, PAGE_LENGTH, SQL_ORDERS } from '../../../plant/page'
import { charactersOf, FIELDS, type Int64, type Plant } from '../../../plant/plant'
import type { Order, Page, PlantQuery } from '../../../plant/plants'
import { COLUMNS, type PlantRecord, plantOf } from '../../../plant/row'

// Size of a part of an export.
const PART_PLANTS = 1000
const PART_CHARACTERS = 1_000_000

/** A plant read by a query; `hit` is 0 if it does not match the search. */
type Walked = PlantRecord & { readonly hit?: bigint }

function takePage(rows: Iterable<Walked>, limit: number, most: number): Page {
  const plants: Plant[] = []
  let next: Int64 | null = null
  let [walked, length] = [0, 0]
  for (const row of rows) {
    const isFull = plants.length === limit || walked === most || length > PAGE_LENGTH
    if (isFull) return { plants, next }
    const plant = plantOf(row)
    if (row.hit !== 0n) plants.push(plant)
    length += charactersOf(plant)
    walked += 1
    next = plant.id
  }
  return { plants, next: null }
}

/** Prepares the queries of pages in one order. Returns a function that reads the rows from an id on. */
function prepareRange(db: Database, order: Order) {
  const { from, by } = SQL_ORDERS[order]
  const all = db.query<PlantRecord, [bigint, number]>(
    `SELECT ${COLUMNS} FROM plants WHERE id ${from} ?1 ORDER BY ${by} LIMIT ?2`,
  )
  const ofTag = db.query<PlantRecord, [bigint, number, string]>(
    `SELECT ${COLUMNS} FROM plants WHERE id ${from} ?1 AND tag = ?3 ORDER BY ${by} LIMIT ?2`,
  )
  // SQLite's lower() changes A to Z only.
  const hits = `SELECT ${COLUMNS}, instr(lower(name), lower(?3)) AS hit FROM plants`
  const named = db.query<Walked, [bigint, number, string]>(
    `${hits} WHERE id ${from} ?1 ORDER BY ${by} LIMIT ?2`,
  )
  const namedOfTag = db.query<Walked, [bigint, number, string, string]>(
    `${hits} WHERE id ${from} ?1 AND tag = ?4 ORDER BY ${by} LIMIT ?2`,
  )

  return (first: Int64, most: number, { tag, name }: PlantQuery): Iterable<Walked> => {
    // One extra row shows whether there is a next page.
    const rows = most + 1
    if (name === null)
      return tag === null ? all.iterate(first, rows) : ofTag.iterate(first, rows, tag)
    return tag === null
      ? named.iterate(first, rows, name)
      : namedOfTag.iterate(first, rows, name, tag)
  }
}

export type PlantReader = {
  read(id: Int64): Plant | null
  list(query: PlantQuery): Page
}

/**
 * Prepares the queries of a database's plants. Each query is a range scan, so a page costs the same at any table size.
 */
export function preparePlants(db: Database): PlantReader {
  const one = db.query<PlantRecord, [bigint]>(`SELECT ${COLUMNS} FROM plants WHERE id = ?`)
  const ranges = { asc: prepareRange(db, 'asc'), desc: prepareRange(db, 'desc') }

  return {
    read(id) {
      const row = one.get(id)
      return row && plantOf(row)
    },
    list(query) {
      const { limit, order = 'asc' } = query
      const first = firstId(query)
      const most = maxWalked(query)
      return first === null
        ? { plants: [], next: null }
        : takePage(ranges[order](first, most, query), limit, most)
    },
  }
}

/** The number of plants as counted by commits; null unless there is exactly one row. */
export function countPlants(db: Database): number | null {
  const counts = db.query<{ plants: bigint }, []>('SELECT plants FROM plant_count').all()
  return counts.length === 1 ? Number(counts[0]?.plants) : null
}

/** The fields of a plant that have a column: an older schema is read unchanged, and lacks the newest. */
function columnsOf(db: Database): readonly string[] {
  const found = db.query<{ name: string }, []>(`SELECT name FROM pragma_table_info('plants')`).all()
  return FIELDS.filter((field) => found.some(({ name }) => name === field))
}

/** The plants as of one moment in ascending order of their ids, in parts that fit in memory. */
export function* allPlants(db: Database): Generator<readonly Plant[]> {
  const rows = db
    .query<PlantRecord, []>(`SELECT ${columnsOf(db)} FROM plants ORDER BY id`)
    .safeIntegers(true)
  let part: Plant[] = []
  let characters = 0
  for (const row of rows.iterate()) {
    part.push(plantOf(row))
    characters += charactersOf(row)
    if (part.length < PART_PLANTS && characters < PART_CHARACTERS) continue
    yield part
    part = []
    characters = 0
  }
  if (part.length > 0) yield part
}
