// Verifies a database's integrity and its schema without writing.

import { Database } from 'bun:sqlite'
import { messageOf, OpenError } from '../../../errors'
import type { Findings } from '../../../store'
import { describeForeignPart, describeMiscount } from '../../foreign-part'
import { connect } from '../file/connection'
import { explainFailedRead } from '../file/errors'
import { applyMigrations, SCHEMA_VERSION, schemaVersion } from '../file/migrations'
import { readDatabase } from '../read-only/read'
import { damagedEntries } from '../reading/change-log'
import { countPlants } from '../reading/plants'

type SchemaEntry = {
  readonly type: string
  readonly name: string
  /** The table that it belongs to. */
  readonly table: string
  readonly sql: string | null
}

const readSchema = (db: Database): SchemaEntry[] =>
  db.query<SchemaEntry, []>('SELECT type, name, tbl_name AS "table", sql FROM sqlite_schema').all()

function schemaOf(version: number): SchemaEntry[] {
  using db = new Database(':memory:')
  applyMigrations(db, 0, version)
  return readSchema(db)
}

// The layout of a migration's SQL may have changed since it ran.
const withoutLayout = (sql: string | null) => sql?.replace(/\s+/g, ' ')

// A trigger or a unique index changes or rejects writes; other indexes, tables and views are harmless.
const interferes = ({ type, sql }: SchemaEntry): boolean =>
  type === 'trigger' || (type === 'index' && /^CREATE\s+UNIQUE/i.test(sql ?? ''))

/** Differences from the schema of a version: missing or changed entries, and others that interfere with them. */
function schemaProblems(db: Database, version: number): string[] {
  const actual = readSchema(db)
  const expected = schemaOf(version)
  const match = (entry: SchemaEntry) => (other: SchemaEntry) =>
    other.type === entry.type && other.name === entry.name
  const faulty = expected.flatMap((entry) => {
    const { type, name, sql } = entry
    const actualEntry = actual.find(match(entry))
    if (!actualEntry) return [`${type} ${name} is missing`]
    return withoutLayout(actualEntry.sql) === withoutLayout(sql)
      ? []
      : [`${type} ${name} was changed`]
  })
  // SQLite keeps the name of a trigger's table as typed.
  const tables = new Set(expected.map(({ table }) => table))
  const foreign = actual
    .filter((entry) => interferes(entry) && tables.has(entry.table.toLowerCase()))
    .filter((entry) => !expected.some(match(entry)))
    .map(({ type, name, table }) => describeForeignPart(type, name, table.toLowerCase()))
  return [...faulty, ...foreign]
}

const NOTHING = { schemaVersion: 0, plants: 0, tokens: 0, wrongRecords: [] }

const count = (db: Database, table: 'plants' | 'tokens'): number =>
  Number(db.query<{ n: number }, []>(`SELECT count(*) AS n FROM ${table}`).get()?.n)

const ONE_ROW =
  'table change_log must have one row; to begin a new change log, run DELETE FROM changes; DELETE FROM change_log; INSERT INTO change_log (last, bytes) VALUES (0, 0)'

const RECOUNT = 'UPDATE change_log SET plants = (SELECT count(*) FROM plants)'

function wrongRecords(db: Database, plants: number): string[] {
  const recorded = countPlants(db)
  if (recorded === null) return [ONE_ROW]
  const damaged = damagedEntries(db)
  return recorded === plants ? damaged : [...damaged, describeMiscount(recorded, plants, RECOUNT)]
}

// https://sqlite.org/pragma.html#pragma_integrity_check
const damageOf = (db: Database): string[] =>
  db
    .query<{ integrity_check: string }, []>('PRAGMA integrity_check')
    .all()
    .map((row) => row.integrity_check)
    .filter((line) => line !== 'ok')

function check(db: Database): Findings {
  const version = schemaVersion(db)
  const problems = [...damageOf(db), ...schemaProblems(db, version)]
  if (problems.length > 0) return { ...NOTHING, problems }
  const plants = count(db, 'plants')
  const wrong = version === SCHEMA_VERSION ? wrongRecords(db, plants) : []
  const tokens = count(db, 'tokens')
  return { schemaVersion: version, plants, tokens, problems, wrongRecords: wrong }
}

/** Reads a whole database. Throws an `OpenError` if it cannot be opened. */
export function checkDatabase(path: string): Promise<Findings> {
  return readDatabase(path, 'repeatable', (db) => {
    try {
      return check(db)
    } catch (error) {
      const reason = explainFailedRead(error, path)
      if (reason instanceof OpenError && !reason.storage) throw reason
      return { ...NOTHING, problems: [messageOf(error)] }
    }
  })
}

/** Reads every page of a database that this process has open, by SQLite alone: another descriptor would drop its locks. */
export function checkPages(path: string): Findings {
  using db = connect(path)
  return { ...NOTHING, problems: [...damageOf(db), ...damagedEntries(db)] }
}
