import { Database } from 'bun:sqlite'
import { OpenError } from '../../errors'
import { explainReading } from './errors'
import { schemaVersion } from './migrations'

/** What a check of a database found. */
export type Findings = {
  readonly schemaVersion: number
  readonly plants: number
  readonly tokens: number
  /** What is wrong, one line each; none where all is well. */
  readonly problems: readonly string[]
}

const count = (db: Database, table: 'plants' | 'tokens'): number =>
  Number(db.query<{ n: bigint }, []>(`SELECT count(*) AS n FROM ${table}`).get()?.n)

/**
 * Reads a whole database and says whether it is as it should be
 * (https://sqlite.org/pragma.html#pragma_integrity_check). Throws an `OpenError` where this user cannot open it.
 */
export function checkDatabase(path: string): Findings {
  const db = new Database(path, { readwrite: true, create: false, safeIntegers: true })
  try {
    db.run('PRAGMA busy_timeout = 10000')
    db.run('PRAGMA query_only = ON')
    const problems = db
      .query<{ integrity_check: string }, []>('PRAGMA integrity_check')
      .all()
      .map((row) => row.integrity_check)
      .filter((line) => line !== 'ok')
    return {
      schemaVersion: schemaVersion(db),
      plants: count(db, 'plants'),
      tokens: count(db, 'tokens'),
      problems,
    }
  } catch (error) {
    const told = explainReading(error, path)
    if (told instanceof OpenError && !told.storage) throw told
    const problem = error instanceof Error ? error.message : String(error)
    return { schemaVersion: 0, plants: 0, tokens: 0, problems: [problem] }
  } finally {
    db.close(true)
  }
}
