// Verifies a database's integrity, its schema and its number of plants, without writing.

import type { Database } from 'bun:sqlite'
import { messageOf } from '../../errors'
import type { Findings } from '../../store'
import { describeMiscount } from '../schema-messages'
import { isDamage } from './errors'
import { countPlants } from './plants'
import { schemaProblems, schemaVersion } from './schema'
import { readDatabase } from './snapshot'

const NOTHING = { schemaVersion: 0, plants: 0, tokens: 0, wrongRecords: [] }

const RECOUNT = 'UPDATE change_log SET plants = (SELECT count(*) FROM plants)'

// https://sqlite.org/pragma.html#pragma_integrity_check
function damageOf(db: Database): string[] {
  const lines = db.query('PRAGMA integrity_check').values().flat().map(String)
  return lines.filter((line) => line !== 'ok')
}

function check(db: Database): Findings {
  const version = schemaVersion(db)
  const problems = [...damageOf(db), ...schemaProblems(db, version)]
  if (problems.length > 0) return { ...NOTHING, problems }
  const countOf = (table: string) =>
    Number(db.query<{ rows: bigint }, []>(`SELECT count(*) AS rows FROM ${table}`).get()?.rows)
  const plants = countOf('plants')
  const wrongRecords = describeMiscount(countPlants(db), plants, RECOUNT)
  return { schemaVersion: version, plants, tokens: countOf('tokens'), problems, wrongRecords }
}

/** Reads a whole database. Throws an `OpenError` if it cannot be opened. */
export function checkDatabase(path: string): Promise<Findings> {
  return readDatabase(path, (db) => {
    try {
      return check(db)
    } catch (error) {
      if (!isDamage(error)) throw error
      return { ...NOTHING, problems: [messageOf(error)] }
    }
  })
}
