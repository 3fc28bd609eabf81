// The schema of a database file: its version, its creation, and the alterations of other programs, which may discard or
// change what is stored.

import { Database } from 'bun:sqlite'
import { OpenError } from '../../errors'
import { describeForeignPart, olderSchema, requireKnownSchema } from '../schema-messages'
import schema from './schema.sql' with { type: 'text' }

/** `PRAGMA application_id` of a plantstore database: "plnt" (SQLite file format, section 1.3.17). */
export const APPLICATION_ID = 0x706c6e74

/** One statement for each version after that of 1.0.0. */
const UPGRADES: readonly string[] = []

// `PRAGMA user_version` of schema.sql, the schema of 1.0.0.
const FIRST_VERSION = 8
/** The schema that this program writes; it reads all since 1.0.0. */
export const SCHEMA_VERSION = FIRST_VERSION + UPGRADES.length

/** The error of a file that is no database of plantstore. */
export const notOurs = (path: string): OpenError =>
  new OpenError(`${path} is not a plantstore database; name another file with --database`)

/** Throws an `OpenError` for a schema that this program cannot read; 0 is that of an empty file, or of another program. */
export function requireKnown(version: number, path: string): void {
  if (version === 0) throw notOurs(path)
  requireKnownSchema(path, version, [FIRST_VERSION, SCHEMA_VERSION])
}

/** The version of a schema; 0 for an empty file, or for that of another program. */
export function schemaVersion(db: Database): number {
  return Number(db.query<{ user_version: bigint }, []>('PRAGMA user_version').get()?.user_version)
}

/** Creates or upgrades the schema, within a transaction. */
function makeSchema(db: Database, version = SCHEMA_VERSION): void {
  const current = schemaVersion(db)
  if (current === 0) db.run(schema)
  const applied = Math.max(current - FIRST_VERSION, 0)
  for (const statement of UPGRADES.slice(applied, version - FIRST_VERSION)) db.run(statement)
  db.run(`PRAGMA user_version = ${version}`)
}

/**
 * Creates the schema of an empty database, or upgrades it, in one transaction. Throws an `OpenError` if it is not
 * plantstore's, or may not be upgraded: an older daemon may use it.
 */
export function createSchema(db: Database, mayUpgrade = false): void {
  if (schemaVersion(db) === SCHEMA_VERSION) return
  const createOnce = db.transaction(() => {
    // Another process may have created it meanwhile.
    const version = schemaVersion(db)
    if (version === SCHEMA_VERSION) return
    if (version > 0 || readParts(db).size > 0) requireKnown(version, db.filename)
    if (version > 0 && !mayUpgrade) throw olderSchema(db.filename, version, SCHEMA_VERSION)
    makeSchema(db)
  })
  createOnce.immediate()
}

/** The parts of a schema by type and name. The name of a trigger's table is as typed. */
function readParts(db: Database) {
  const parts = db.query<{ type: string; name: string; table: string; sql: string | null }, []>(
    'SELECT type, name, lower(tbl_name) AS "table", sql FROM sqlite_schema',
  )
  return new Map(parts.all().map((part) => [`${part.type} ${part.name}`, part]))
}

// They change or reject writes; other indexes, tables and views are harmless.
const INTERFERES = /^CREATE (TRIGGER|UNIQUE INDEX)/i

/** Differences from plantstore's schema of a version, one line each. */
export function schemaProblems(db: Database, version = SCHEMA_VERSION): string[] {
  using newDb = new Database(':memory:')
  makeSchema(newDb, version)
  const parts = readParts(db)
  const expectedParts = readParts(newDb)
  const isOurs = (table: string) => expectedParts.has(`table ${table}`)
  const foreign = [...parts].filter(
    ([key, { sql, table }]) =>
      INTERFERES.test(sql ?? '') && isOurs(table) && !expectedParts.has(key),
  )
  const altered = [...expectedParts].filter(([key, { sql }]) => parts.get(key)?.sql !== sql)
  return [
    ...foreign.map(([, { type, name, table }]) => describeForeignPart(type, name, table)),
    ...altered.map(([key]) => `${key} was changed or removed`),
  ]
}

/**
 * Returns a function to call within each writing transaction, before the first write. It throws an `OpenError`
 * if another program has altered the schema, which may discard or change what is stored; any change of it changes
 * SQLite's `schema_version`, and only then is it read.
 */
export function guardSchema(db: Database): () => void {
  const select = db.query<{ schema_version: bigint }, []>('PRAGMA schema_version')
  let guardedVersion: bigint | undefined
  return () => {
    const version = select.get()?.schema_version
    if (version === guardedVersion) return
    const [problem] = schemaProblems(db)
    if (problem !== undefined) throw new OpenError(problem)
    guardedVersion = version
  }
}
