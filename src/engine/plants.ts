import type { Database } from 'bun:sqlite'
import type { Int64, NewPlant } from '../plant'
import type { PlantQuery } from '../store'

type PlantRow = { id: bigint; name: string; tag: string | null }

const toPlant = ({ id, name, tag }: PlantRow): NewPlant =>
  tag === null ? { id, name } : { id, name, tag }

/** Reads the plants of a database. Every query is a range of an index: a page costs the same at any size. */
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
    list(query: PlantQuery): NewPlant[] {
      const { after: id, limit, tag } = query
      if (tag === null) return (id === null ? first.all(limit) : after.all(id, limit)).map(toPlant)
      return (id === null ? firstOfTag.all(tag, limit) : afterOfTag.all(tag, id, limit)).map(
        toPlant,
      )
    },
  }
}
