// Verifies a database's integrity and its schema, and writes nothing.

import type { Database } from 'bun:sqlite'
import { OpenError } from '../../errors'
import type { Findings } from '../../store'
import { logProblems } from './change-log'
import { explainReading } from './errors'
import { SCHEMA_VERSION, schemaVersion } from './migrations'
import { readDatabase } from './read-only'
import { schemaProblems } from './schema'

// A broken log of changes could have as many problems as entries.
const MOST_PROBLEMS = 10

const NOTHING = { schemaVersion: 0, plants: 0, tokens: 0 }

const count = (db: Database, table: 'plants' | 'tokens'): number =>
  Number(db.query<{ n: number }, []>(`SELECT count(*) AS n FROM ${table}`).get()?.n)

// https://sqlite.org/pragma.html#pragma_integrity_check
function check(db: Database): Findings {
  const version = schemaVersion(db)
  const damage = db
    .query<{ integrity_check: string }, []>('PRAGMA integrity_check')
    .all()
    .map((row) => row.integrity_check)
    .filter((line) => line !== 'ok')
  const problems = [...damage, ...schemaProblems(db, version)]
  if (problems.length === 0 && version === SCHEMA_VERSION) {
    problems.push(...logProblems(db).take(MOST_PROBLEMS))
  }
  if (problems.length > 0) return { ...NOTHING, problems }
  return {
    schemaVersion: version,
    plants: count(db, 'plants'),
    tokens: count(db, 'tokens'),
    problems,
  }
}

/** Reads a whole database. Throws an `OpenError` if it cannot be opened. */
export function checkDatabase(path: string): Promise<Findings> {
  return readDatabase(path, 'repeatable', (db) => {
    try {
      return check(db)
    } catch (error) {
      const told = explainReading(error, path)
      if (told instanceof OpenError && !told.storage) throw told
      const problem = error instanceof Error ? error.message : String(error)
      return { ...NOTHING, problems: [problem] }
    }
  })
}
