// Every plant of a database, for an export.

import type { Database } from 'bun:sqlite'
import { charactersOf, type NewPlant } from '../../plant'
import { COLUMNS, plantOf, type StoredPlant } from '../row'

const PLANTS_AT_ONCE = 1000
const CHARACTERS_AT_ONCE = 1_000_000

/** The plants of one moment in ascending order of their ids, in parts that fit in memory. */
export function* allPlants(db: Database): Generator<readonly NewPlant[]> {
  const rows = db
    .query<StoredPlant, []>(`SELECT ${COLUMNS} FROM plants ORDER BY id`)
    .safeIntegers(true)
  let part: NewPlant[] = []
  let characters = 0
  for (const row of rows.iterate()) {
    part.push(plantOf(row))
    characters += charactersOf(row)
    if (part.length < PLANTS_AT_ONCE && characters < CHARACTERS_AT_ONCE) continue
    yield part
    part = []
    characters = 0
  }
  if (part.length > 0) yield part
}
