// The SQL that reads plants.

import type { Database } from 'bun:sqlite'
import type { Int64, NewPlant } from '../../plant'
import type { PlantPage, PlantQuery } from '../../store'

type PlantRow = { id: bigint; name: string; tag: string | null }

const toPlant = ({ id, name, tag }: PlantRow): NewPlant =>
  tag === null ? { id, name } : { id, name, tag }

// A page ends with the plant that takes it beyond this length: 1000 of the longest plants would take gigabytes of memory.
const PAGE_CHARACTERS = 250_000

function takePage(rows: Iterable<PlantRow>, limit: number): PlantPage {
  const plants: NewPlant[] = []
  let characters = 0
  for (const row of rows) {
    if (plants.length === limit || characters > PAGE_CHARACTERS) return { plants, hasMore: true }
    plants.push(toPlant(row))
    characters += row.name.length + (row.tag?.length ?? 0)
  }
  return { plants, hasMore: false }
}

/** Prepares the queries of a database's plants. Each is a range of an index: a page costs the same at any size. */
export function preparePlants(db: Database) {
  const one = db.query<PlantRow, [bigint]>('SELECT id, name, tag FROM plants WHERE id = ?')
  const first = db.query<PlantRow, [number]>('SELECT id, name, tag FROM plants ORDER BY id LIMIT ?')
  const after = db.query<PlantRow, [bigint, number]>(
    'SELECT id, name, tag FROM plants WHERE id > ? ORDER BY id LIMIT ?',
  )
  const firstOfTag = db.query<PlantRow, [string, number]>(
    'SELECT id, name, tag FROM plants WHERE tag = ? ORDER BY id LIMIT ?',
  )
  const afterOfTag = db.query<PlantRow, [string, bigint, number]>(
    'SELECT id, name, tag FROM plants WHERE tag = ? AND id > ? ORDER BY id LIMIT ?',
  )

  return {
    read(id: Int64): NewPlant | null {
      const row = one.get(id)
      return row && toPlant(row)
    },
    list({ after: id, limit, tag }: PlantQuery): PlantPage {
      // One more row than asked for shows whether there is a next page.
      const most = limit + 1
      const ofAll = () => (id === null ? first.iterate(most) : after.iterate(id, most))
      const ofTag = (of: string) =>
        id === null ? firstOfTag.iterate(of, most) : afterOfTag.iterate(of, id, most)
      return takePage(tag === null ? ofAll() : ofTag(tag), limit)
    },
  }
}
