// Reads every plant of a store as of one moment, with the engine that --database names.

import { type DatabaseSecrets, isPostgresUrl } from '../database-url'
import type { NewPlant } from '../plant'
import { allPlants } from './sqlite/all-plants'
import { readDatabase } from './sqlite/read-only'

/** Plants in ascending order of their ids, in parts that fit in memory. */
export type PlantParts = Iterable<readonly NewPlant[]> | AsyncIterable<readonly NewPlant[]>

/**
 * Lets `read` read a store as of one moment, and writes nothing to it. `repeatable`: it can be called again, from the
 * start. Rejects with an `OpenError` if the store cannot be read.
 */
export async function readPlants<T>(
  database: string,
  secrets: DatabaseSecrets,
  repeatable: 'repeatable' | 'once',
  read: (plants: PlantParts) => Promise<T>,
): Promise<T> {
  if (!isPostgresUrl(database)) {
    return readDatabase(database, repeatable, (db) => read(allPlants(db)))
  }
  // Loaded only if it is used.
  const { parsePostgresUrl } = await import('./postgres/url')
  const postgres = await import('./postgres/snapshot')
  return postgres.readSnapshot(parsePostgresUrl(database, secrets), (ask) =>
    read(postgres.allPlants(ask)),
  )
}
