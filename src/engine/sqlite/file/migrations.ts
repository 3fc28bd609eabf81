// The schema: one file in migrations/ per version.

import type { Database } from 'bun:sqlite'
import { existsSync } from 'node:fs'
import { OpenError } from '../../../errors'
import { refuseTriggers } from './alterations'
import plantsAndTokens from './migrations/0001_plants_and_tokens.sql' with { type: 'text' }
import plantsByTag from './migrations/0002_plants_by_tag.sql' with { type: 'text' }
import lastUseOfTokens from './migrations/0003_last_use_of_tokens.sql' with { type: 'text' }
import noPlantsByName from './migrations/0004_no_plants_by_name.sql' with { type: 'text' }
import changeLog from './migrations/0005_change_log.sql' with { type: 'text' }
import plantCount from './migrations/0006_plant_count.sql' with { type: 'text' }
import marksOfChanges from './migrations/0007_marks_of_changes.sql' with { type: 'text' }
import oneRow from './migrations/0008_one_row.sql' with { type: 'text' }

/** `PRAGMA application_id` of a plantstore database: "plnt" (SQLite file format, section 1.3.17). */
export const APPLICATION_ID = 0x706c6e74

/**
 * The migration to each schema version (`PRAGMA user_version`). The first starts from an empty file. Each needs a
 * statement that changes the schema, such as CREATE or ALTER: it is how a running command of an older version notices.
 */
const MIGRATIONS = [
  plantsAndTokens,
  plantsByTag,
  lastUseOfTokens,
  noPlantsByName,
  changeLog,
  plantCount,
  marksOfChanges,
  oneRow,
]

/** The newest schema version that this program reads. */
export const SCHEMA_VERSION = MIGRATIONS.length

/** The path of the copy that is made of a database before it is migrated from a schema. */
export const copyOfSchema = (path: string, version: number): string => `${path}.schema-${version}`

/** Throws an `OpenError` if a database has a newer schema than this program reads; names a copy that it can read. */
export function requireKnown(version: number, path: string): void {
  if (version <= SCHEMA_VERSION) return
  const copy = MIGRATIONS.map((_, index) => copyOfSchema(path, index + 1)).findLast((path) =>
    existsSync(path),
  )
  const way = copy ? `upgrade, or restore ${copy}, which lacks later writes` : 'upgrade'
  throw new OpenError(
    `${path} was written by a newer plantstore (schema ${version}; this one reads up to ${SCHEMA_VERSION}); ${way}`,
  )
}

export function schemaVersion(db: Database): number {
  return Number(db.query<{ user_version: bigint }, []>('PRAGMA user_version').get()?.user_version)
}

/** Migrates a database from one schema version to another, within an open transaction. */
export function applyMigrations(db: Database, from: number, to: number): void {
  for (const sql of MIGRATIONS.slice(from, to)) db.run(sql)
}

const isEmpty = (db: Database): boolean => db.query('SELECT 1 FROM sqlite_schema').get() === null

/**
 * Migrates a database to {@link SCHEMA_VERSION}, in one transaction. Returns its previous version. Throws an
 * `OpenError` if it has tables of another program.
 */
export function migrate(db: Database): number {
  if (schemaVersion(db) === SCHEMA_VERSION) return SCHEMA_VERSION
  const migrateOnce = db.transaction(() => {
    // Read again: another process may have migrated in the meantime.
    const before = schemaVersion(db)
    if (before === 0 && !isEmpty(db)) {
      throw new OpenError(
        `${db.filename} is a database of another program; name another file with --database`,
      )
    }
    refuseTriggers(db)
    applyMigrations(db, before, SCHEMA_VERSION)
    db.run(`PRAGMA user_version = ${SCHEMA_VERSION}`)
    return before
  })
  return migrateOnce.immediate()
}
