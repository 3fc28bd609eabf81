// The schema, and the steps from each version to the next.

import type { Database } from 'bun:sqlite'
import { OpenError } from '../../errors'

/** `PRAGMA application_id` of a plantstore database: "plnt" (SQLite file format, section 1.3.17). */
export const APPLICATION_ID = 0x706c6e74

/**
 * The steps from one schema version (`PRAGMA user_version`) to the next. The first starts from an empty file, and marks it
 * as plantstore's in the same transaction: a first start that is killed leaves nothing, or everything.
 */
const migrations = [
  `PRAGMA application_id = ${APPLICATION_ID};
   CREATE TABLE plants (id INTEGER PRIMARY KEY, name TEXT NOT NULL, tag TEXT) STRICT;
   CREATE TABLE tokens (
     name TEXT NOT NULL,
     hash TEXT NOT NULL PRIMARY KEY,
     scope TEXT NOT NULL CHECK (scope IN ('read', 'write')),
     created_at INTEGER NOT NULL,
     expires_at INTEGER,
     revoked_at INTEGER
   ) STRICT, WITHOUT ROWID;
   CREATE UNIQUE INDEX tokens_by_name ON tokens (name) WHERE revoked_at IS NULL;`,
  // Keyset pagination by tag. Plants without a tag cost it nothing.
  'CREATE INDEX plants_by_tag ON plants (tag, id) WHERE tag IS NOT NULL;',
  'ALTER TABLE tokens ADD COLUMN last_used_at INTEGER;',
  // Plants were once found by their names through it.
  'DROP INDEX IF EXISTS plants_by_name;',
  // The log of changes. `log`: its name; NULL: none is kept.
  `CREATE TABLE changes (
     number INTEGER PRIMARY KEY,
     at INTEGER NOT NULL,
     action TEXT NOT NULL,
     plant INTEGER NOT NULL,
     before TEXT,
     after TEXT,
     token TEXT,
     address TEXT,
     request TEXT
   ) STRICT;
   CREATE INDEX changes_by_plant ON changes (plant);
   CREATE TABLE change_log (
     log TEXT,
     keep_ms INTEGER,
     last INTEGER NOT NULL,
     bytes INTEGER NOT NULL
   ) STRICT;
   INSERT INTO change_log (last, bytes) VALUES (0, 0);`,
  // How many plants there are.
  `CREATE TABLE plant_count (plants INTEGER NOT NULL) STRICT;
   INSERT INTO plant_count SELECT count(*) FROM plants;`,
]

/** The newest schema version that this program reads. */
export const SCHEMA_VERSION = migrations.length

/** Throws an `OpenError` if a database has a newer schema than this program reads. */
export function requireKnown(version: number, path: string): void {
  if (version <= SCHEMA_VERSION) return
  throw new OpenError(
    `${path} was written by a newer plantstore (schema ${version}; this one reads up to ${SCHEMA_VERSION}); upgrade`,
  )
}

export function schemaVersion(db: Database): number {
  return Number(db.query<{ user_version: bigint }, []>('PRAGMA user_version').get()?.user_version)
}

/** Takes a database from one schema version to another, within a transaction that is open. */
export function applyMigrations(db: Database, from: number, to: number): void {
  for (const sql of migrations.slice(from, to)) db.run(sql)
}

const isEmpty = (db: Database): boolean => db.query('SELECT 1 FROM sqlite_schema').get() === null

/**
 * Brings a database to {@link SCHEMA_VERSION}, in one transaction. Returns the version that it had. Throws an `OpenError`
 * if it has tables of another program.
 */
export function migrate(db: Database): number {
  if (schemaVersion(db) === SCHEMA_VERSION) return SCHEMA_VERSION
  const migrateOnce = db.transaction(() => {
    // Read again: another process may have migrated while this one waited for the lock.
    const before = schemaVersion(db)
    if (before === 0 && !isEmpty(db)) {
      throw new OpenError(
        `${db.filename} is a database of another program; name another file with --database`,
      )
    }
    applyMigrations(db, before, SCHEMA_VERSION)
    db.run(`PRAGMA user_version = ${SCHEMA_VERSION}`)
    return before
  })
  return migrateOnce.immediate()
}
