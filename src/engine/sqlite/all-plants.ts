// Every plant of a database, for an export.

import type { Database } from 'bun:sqlite'
import type { NewPlant } from '../../plant'

type Row = { id: bigint; name: string; tag: string | null }

const PLANTS_AT_ONCE = 1000
const CHARACTERS_AT_ONCE = 1_000_000

/** The plants of one moment in ascending order of their ids, in parts that fit in memory. */
export function* allPlants(db: Database): Generator<readonly NewPlant[]> {
  const rows = db.query<Row, []>('SELECT id, name, tag FROM plants ORDER BY id').safeIntegers(true)
  let part: NewPlant[] = []
  let characters = 0
  for (const { id, name, tag } of rows.iterate()) {
    part.push(tag === null ? { id, name } : { id, name, tag })
    characters += name.length + (tag?.length ?? 0)
    if (part.length < PLANTS_AT_ONCE && characters < CHARACTERS_AT_ONCE) continue
    yield part
    part = []
    characters = 0
  }
  if (part.length > 0) yield part
}
