// The SQL that reads plants.

import type { Database } from 'bun:sqlite'
import type { Int64, NewPlant } from '../../plant'
import type { NameQuery, PlantPage, PlantQuery } from '../../store'
import { plantOf, type StoredPlant } from '../row'
import { NAME_INDEX } from './name-index'

// A page ends with the plant that takes it beyond this length: 1000 of the longest plants would take gigabytes of memory.
const PAGE_CHARACTERS = 250_000

function takePage(rows: Iterable<StoredPlant>, limit: number): PlantPage {
  const plants: NewPlant[] = []
  let characters = 0
  for (const row of rows) {
    if (plants.length === limit || characters > PAGE_CHARACTERS) return { plants, hasMore: true }
    plants.push(plantOf(row))
    characters += row.name.length + (row.tag?.length ?? 0)
  }
  return { plants, hasMore: false }
}

// Greater than every text, as every blob is (https://sqlite.org/datatype3.html, section 4.1).
const BEHIND_ALL = new Uint8Array(1)
const LAST_CODE_POINT = 0x10ffff
const SURROGATES = { before: 0xd7ff, behind: 0xe000 }

/** The least text that is greater than all texts with a prefix, in the order of UTF-8, which is that of code points. */
function endOf(prefix: string): string | Uint8Array {
  const points = Array.from(prefix, (it) => it.codePointAt(0) ?? 0)
  const last = points.findLastIndex((point) => point !== LAST_CODE_POINT)
  const point = points[last]
  if (point === undefined) return BEHIND_ALL
  const next = point === SURROGATES.before ? SURROGATES.behind : point + 1
  return String.fromCodePoint(...points.slice(0, last), next)
}

function* inTurn<T>(...parts: (() => Iterable<T>)[]): Generator<T> {
  for (const part of parts) yield* part()
}

/** Prepares the queries of a database's plants. Each reads a range of an index: a page costs the same at any size. */
export function preparePlants(db: Database) {
  const one = db.query<StoredPlant, [bigint]>('SELECT id, name, tag FROM plants WHERE id = ?')
  const first = db.query<StoredPlant, [number]>(
    'SELECT id, name, tag FROM plants ORDER BY id LIMIT ?',
  )
  const after = db.query<StoredPlant, [bigint, number]>(
    'SELECT id, name, tag FROM plants WHERE id > ? ORDER BY id LIMIT ?',
  )
  const firstOfTag = db.query<StoredPlant, [string, number]>(
    'SELECT id, name, tag FROM plants WHERE tag = ? ORDER BY id LIMIT ?',
  )
  const afterOfTag = db.query<StoredPlant, [string, bigint, number]>(
    'SELECT id, name, tag FROM plants WHERE tag = ? AND id > ? ORDER BY id LIMIT ?',
  )
  // Prepared when first needed: without the index they cannot be. INDEXED BY, so that SQLite uses no other plan.
  const ofNames = `SELECT id, name, tag FROM plants INDEXED BY ${NAME_INDEX}`
  const fromName = () =>
    db.query<StoredPlant, [string, string | Uint8Array, number]>(
      `${ofNames} WHERE name >= ? AND name < ? ORDER BY name, id LIMIT ?`,
    )
  const sameName = () =>
    db.query<StoredPlant, [string, bigint, number]>(
      `${ofNames} WHERE name = ? AND id > ? ORDER BY id LIMIT ?`,
    )
  const behindName = () =>
    db.query<StoredPlant, [string, string | Uint8Array, number]>(
      `${ofNames} WHERE name > ? AND name < ? ORDER BY name, id LIMIT ?`,
    )

  return {
    read(id: Int64): NewPlant | null {
      const row = one.get(id)
      return row && plantOf(row)
    },
    list({ after: id, limit, tag }: PlantQuery): PlantPage {
      // One more row than asked for shows whether there is a next page.
      const most = limit + 1
      const ofAll = () => (id === null ? first.iterate(most) : after.iterate(id, most))
      const ofTag = (of: string) =>
        id === null ? firstOfTag.iterate(of, most) : afterOfTag.iterate(of, id, most)
      return takePage(tag === null ? ofAll() : ofTag(tag), limit)
    },
    find({ prefix, after, limit }: NameQuery): PlantPage {
      const most = limit + 1
      const end = endOf(prefix)
      if (after === null) return takePage(fromName().iterate(prefix, end, most), limit)
      // SQLite would read all plants of the name for `(name, id) > (?, ?)`: it seeks by the name alone.
      const rest = inTurn(
        () => sameName().iterate(after.name, after.id, most),
        () => behindName().iterate(after.name, end, most),
      )
      return takePage(rest, limit)
    },
  }
}
