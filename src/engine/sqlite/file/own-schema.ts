// Detects a schema that another program has altered, before and during writes.

import type { Changes, Database } from 'bun:sqlite'
import { refuseAlteredPlants, refuseTriggers } from './alterations'
import { AlteredSchema } from './errors'
import { SCHEMA_VERSION, schemaVersion } from './migrations'

/** Throws unless a statement has changed one row: an altered schema can discard a row without an error. */
export function requireOne({ changes }: Changes): void {
  if (changes !== 1) throw new AlteredSchema('the database discarded a row without an error')
}

/**
 * Returns a function to call within each writing transaction, before the first write. It throws if the schema is not
 * the one that this program writes to. Another process may change the schema at any time, which changes SQLite's
 * `schema_version`: only then is the schema read.
 */
export function guardSchema(db: Database): () => void {
  const select = db.query<{ schema_version: bigint }, []>('PRAGMA schema_version')
  let guardedVersion: bigint | undefined

  return () => {
    const version = select.get()?.schema_version
    if (version === guardedVersion) return
    // A newer daemon may have started beside a command.
    if (schemaVersion(db) !== SCHEMA_VERSION) throw new Error('a newer plantstore has migrated it')
    refuseTriggers(db)
    refuseAlteredPlants(db)
    guardedVersion = version
  }
}
