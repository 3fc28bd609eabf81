// The schema: one file in migrations/ per version.

import type { SQL } from 'bun'
import { messageOf, OpenError } from '../../../errors'
import { sqlStateOf } from '../connecting/errors'
import { commit, type Statement } from '../connecting/statements'
import plantsTokensAndLanes from './migrations/0001_plants_tokens_and_lanes.sql' with {
  type: 'text',
}
import noPlantsByName from './migrations/0002_no_plants_by_name.sql' with { type: 'text' }
import changeLog from './migrations/0003_change_log.sql' with { type: 'text' }
import plantCount from './migrations/0004_plant_count.sql' with { type: 'text' }
import lanesBySeq from './migrations/0005_lanes_by_seq.sql' with { type: 'text' }
import marksAndKeys from './migrations/0006_marks_and_keys.sql' with { type: 'text' }

const MIGRATIONS = [
  plantsTokensAndLanes,
  noPlantsByName,
  changeLog,
  plantCount,
  lanesBySeq,
  marksAndKeys,
]

/** The migration to each schema version, with several statements each. */
export const MIGRATION_STATEMENTS: readonly Statement[] = MIGRATIONS.map((text) => [text])

/** The newest schema version that this program reads. */
export const SCHEMA_VERSION = MIGRATION_STATEMENTS.length

// Processes that start at the same time conflict. XX000: "tuple concurrently updated"; 22012: see UPDATE_VERSION.
const CONFLICTS = ['22012', '23505', '40001', '40P01', '42P07', '42710', 'XX000']
const MAX_TRIES = 20
const PAUSE_MS = 50

export const newerSchema = (version: number): string =>
  `the database was written by a newer plantstore (schema ${version}; this one reads up to ${SCHEMA_VERSION}); upgrade`

/** The version of the schema; 0 for none. Rejects with an `OpenError` if a newer plantstore made it. */
export async function schemaVersion(sql: SQL): Promise<number> {
  const [table] = await sql.unsafe<{ isThere: boolean }[]>(
    `SELECT to_regclass('plantstore_schema') IS NOT NULL AS "isThere"`,
  )
  if (!table?.isThere) return 0
  const [row] = await sql.unsafe<{ version: number }[]>('SELECT version FROM plantstore_schema')
  const version = row?.version ?? 0
  if (version <= SCHEMA_VERSION) return version
  throw new OpenError(newerSchema(version))
}

const CREATE_VERSION: readonly Statement[] = [
  ['CREATE TABLE plantstore_schema (version integer PRIMARY KEY)'],
  ['INSERT INTO plantstore_schema (version) VALUES ($1)', SCHEMA_VERSION],
]
// Waits for another migrating process. If that one succeeded, the division fails, and so does the transaction.
const UPDATE_VERSION = `WITH raised AS (
    UPDATE plantstore_schema SET version = $2 WHERE version = $1 RETURNING version
  ) SELECT 1 / count(*) FROM raised`

/** The transaction that migrates a database from a version, without its COMMIT. */
const stepsFrom = (version: number): readonly Statement[] => [
  'BEGIN',
  ...(version === 0 ? CREATE_VERSION : [[UPDATE_VERSION, version, SCHEMA_VERSION] as const]),
  ...MIGRATION_STATEMENTS.slice(version),
]

/** The `OpenError` of a failed migration; any other error is returned unchanged. */
function explainFailedMigration(error: unknown): unknown {
  const message = messageOf(error)
  switch (sqlStateOf(error)) {
    case '42P07':
    case '42710':
      return new OpenError(
        `another program's tables are in the database (${message}); use another database, or another schema with ?search_path=`,
      )
    case '3F000':
      return new OpenError('the schema of search_path does not exist; create it: CREATE SCHEMA …')
    case '42501':
      return new OpenError(
        `the user cannot create tables (${message}); run GRANT CREATE, USAGE ON SCHEMA … TO the user`,
      )
    default:
      return error
  }
}

/** Migrates a database to {@link SCHEMA_VERSION}. Resolves to the version it had. Rejects with an `OpenError`. */
export async function migrate(sql: SQL): Promise<number> {
  for (let tries = 1; ; tries += 1) {
    try {
      const version = await schemaVersion(sql)
      if (version < SCHEMA_VERSION) await commit(sql, stepsFrom(version))
      return version
    } catch (error) {
      if (!CONFLICTS.includes(sqlStateOf(error)) || tries === MAX_TRIES)
        throw explainFailedMigration(error)
      await Bun.sleep(Math.random() * PAUSE_MS)
    }
  }
}
