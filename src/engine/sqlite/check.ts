// Verifies a database's integrity, its schema and its number of plants, without writing.

import { Database } from 'bun:sqlite'
import { messageOf, OpenError } from '../../errors'
import type { Findings } from '../../store'
import { describeMiscount } from '../foreign-part'
import { damagedEntries } from './change-log'
import { explainFailedRead } from './errors'
import { countPlants } from './plants'
import { schemaProblems, schemaVersion } from './schema'
import { readDatabase } from './snapshot'

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
  using newDb = new Database(':memory:')
  const problems = [...damageOf(db), ...schemaProblems(db, newDb)]
  if (problems.length > 0) return { ...NOTHING, problems }
  const plants = count(db, 'plants')
  return {
    schemaVersion: schemaVersion(db),
    plants,
    tokens: count(db, 'tokens'),
    problems,
    wrongRecords: wrongRecords(db, plants),
  }
}

/** Reads a whole database. Throws an `OpenError` if it cannot be opened. */
export function checkDatabase(path: string): Promise<Findings> {
  return readDatabase(path, (db) => {
    try {
      return check(db)
    } catch (error) {
      const reason = explainFailedRead(error, path)
      if (reason instanceof OpenError && !reason.storage) throw reason
      return { ...NOTHING, problems: [messageOf(error)] }
    }
  })
}
