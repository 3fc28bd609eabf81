// Verifies a database's integrity and its schema without writing.

import { Database } from 'bun:sqlite'
import { MAX_PROBLEMS } from '../../../change-log/entry'
import { messageOf, OpenError } from '../../../errors'
import type { Findings } from '../../../store'
import { countProblems } from '../../commit/plant-count'
import { explainFailedRead } from '../file/errors'
import { applyMigrations, SCHEMA_VERSION, schemaVersion } from '../file/migrations'
import { changeLogProblems } from '../reading/change-log'
import { countPlants } from '../reading/plants'
import { readDatabase } from './read-only'

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
  const found = readSchema(db)
  const expected = schemaOf(version)
  const match = (entry: SchemaEntry) => (it: SchemaEntry) =>
    it.type === entry.type && it.name === entry.name
  const faulty = expected.flatMap((entry) => {
    const { type, name, sql } = entry
    const same = found.find(match(entry))
    if (!same) return [`${type} ${name} is missing`]
    return withoutLayout(same.sql) === withoutLayout(sql) ? [] : [`${type} ${name} was changed`]
  })
  // SQLite keeps the name of a trigger's table as typed.
  const tables = new Set(expected.map(({ table }) => table))
  const foreign = found
    .filter((entry) => interferes(entry) && tables.has(entry.table.toLowerCase()))
    .filter((entry) => !expected.some(match(entry)))
    .map(
      ({ type, name, table }) =>
        `${type} ${JSON.stringify(name)} on ${table.toLowerCase()} is not plantstore's; drop it`,
    )
  return [...faulty, ...foreign]
}

const NOTHING = { schemaVersion: 0, plants: 0, tokens: 0 }

const count = (db: Database, table: 'plants' | 'tokens'): number =>
  Number(db.query<{ n: number }, []>(`SELECT count(*) AS n FROM ${table}`).get()?.n)

// https://sqlite.org/pragma.html#pragma_integrity_check
function check(db: Database, isCopy: boolean): Findings {
  const version = schemaVersion(db)
  const damage = db
    .query<{ integrity_check: string }, []>('PRAGMA integrity_check')
    .all()
    .map((row) => row.integrity_check)
    .filter((line) => line !== 'ok')
  const problems = [...damage, ...schemaProblems(db, version)]
  if (problems.length === 0 && version === SCHEMA_VERSION) {
    problems.push(...changeLogProblems(db).take(MAX_PROBLEMS))
  }
  if (problems.length > 0) return { ...NOTHING, problems }
  const plants = count(db, 'plants')
  if (!isCopy && version === SCHEMA_VERSION)
    problems.push(...countProblems(countPlants(db), plants))
  return { schemaVersion: version, plants, tokens: count(db, 'tokens'), problems }
}

/**
 * Reads a whole database. Throws an `OpenError` if it cannot be opened. In a copy, a wrong number of plants is
 * tolerated: it is as good as its original.
 */
export function checkDatabase(path: string, isCopy = false): Promise<Findings> {
  return readDatabase(path, 'repeatable', (db) => {
    try {
      return check(db, isCopy)
    } catch (error) {
      const told = explainFailedRead(error, path)
      if (told instanceof OpenError && !told.storage) throw told
      return { ...NOTHING, problems: [messageOf(error)] }
    }
  })
}
