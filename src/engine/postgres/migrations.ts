// The schema, and the steps from each version to the next.

import type { SQL } from 'bun'
import { messageOf, OpenError } from '../../errors'
import { sqlStateOf } from './errors'
import { INDEXED_CHARACTERS } from './plants'
import { commit, type Statement } from './statements'

/** The steps from one schema version to the next. Texts are ordered by their bytes, as SQLite orders them. */
const migrations: readonly (readonly string[])[] = [
  [
    'CREATE TABLE plants (id bigint PRIMARY KEY, name text COLLATE "C" NOT NULL, tag text COLLATE "C")',
    `CREATE INDEX plants_by_tag ON plants (left(tag, ${INDEXED_CHARACTERS}), id) WHERE tag IS NOT NULL`,
    `CREATE TABLE tokens (
      name text COLLATE "C" NOT NULL,
      hash text COLLATE "C" PRIMARY KEY,
      scope text NOT NULL CHECK (scope IN ('read', 'write')),
      created_at bigint NOT NULL,
      expires_at bigint,
      revoked_at bigint,
      last_used_at bigint
    )`,
    'CREATE UNIQUE INDEX tokens_by_name ON tokens (name) WHERE revoked_at IS NULL',
    `CREATE TABLE lanes (
      lane text PRIMARY KEY,
      seq bigint NOT NULL,
      fenced_from bigint,
      refused text NOT NULL DEFAULT '',
      seen_at timestamptz NOT NULL DEFAULT now()
    )`,
  ],
  // Plants were once found by their names through them.
  ['DROP INDEX IF EXISTS plants_by_name, plants_by_long_name'],
  // The log of changes. `log`: its name; NULL: none is kept; `timeline`: that of the server. `logs`: whether the process of a lane adds to it.
  [
    `CREATE TABLE changes (
      number bigint PRIMARY KEY,
      at bigint NOT NULL,
      action text NOT NULL,
      plant bigint NOT NULL,
      before text,
      after text,
      token text,
      address text,
      request text
    )`,
    'CREATE INDEX changes_by_plant ON changes (plant, number)',
    `CREATE TABLE change_log (
      log text,
      keep_ms bigint,
      last bigint NOT NULL,
      timeline text NOT NULL DEFAULT ''
    )`,
    'INSERT INTO change_log (last) VALUES (0)',
    'ALTER TABLE lanes ADD COLUMN logs boolean NOT NULL DEFAULT false',
  ],
  // How many plants there are: that, and what the commits of each process have added. It waits for the steps under way, and
  // older processes, which do not count, find their lanes gone.
  [
    'ALTER TABLE lanes ADD COLUMN added bigint NOT NULL DEFAULT 0',
    'DELETE FROM lanes',
    'CREATE TABLE plant_count (plants bigint NOT NULL)',
    'INSERT INTO plant_count SELECT count(*) FROM plants',
  ],
  // A step finds its row by key and number, past none of the older versions that a long snapshot keeps. The lanes stay:
  // older processes work on until they connect again.
  ['ALTER TABLE lanes DROP CONSTRAINT lanes_pkey, ADD PRIMARY KEY (lane, seq)'],
]

/** The newest schema version that this program reads. */
export const SCHEMA_VERSION = migrations.length

// Several processes may start at once, and conflict. XX000: "tuple concurrently updated"; 22012: see RAISE.
const CONFLICTS = ['22012', '23505', '40001', '40P01', '42P07', '42710', 'XX000']
const MOST_TRIES = 20
const PAUSE_MS = 50

/** The version of the schema; 0: there is none. Rejects with an `OpenError` if a newer plantstore made it. */
export async function schemaVersion(sql: SQL): Promise<number> {
  const [there] = await sql.unsafe<{ there: boolean }[]>(
    `SELECT to_regclass('plantstore_schema') IS NOT NULL AS there`,
  )
  if (!there?.there) return 0
  const [row] = await sql.unsafe<{ version: number }[]>('SELECT version FROM plantstore_schema')
  const version = row?.version ?? 0
  if (version <= SCHEMA_VERSION) return version
  throw new OpenError(
    `the database was written by a newer plantstore (schema ${version}; this one reads up to ${SCHEMA_VERSION}); upgrade`,
  )
}

const MAKE: readonly Statement[] = [
  ['CREATE TABLE plantstore_schema (version integer PRIMARY KEY)'],
  ['INSERT INTO plantstore_schema (version) VALUES ($1)', SCHEMA_VERSION],
]
// Waits for another process that migrates. If that did it, the division fails, and the transaction with it.
const RAISE = `WITH raised AS (
    UPDATE plantstore_schema SET version = $2 WHERE version = $1 RETURNING version
  ) SELECT 1 / count(*) FROM raised`

/** The transaction that migrates a database from a version, up to its COMMIT. */
const stepsFrom = (version: number): readonly Statement[] => [
  'BEGIN',
  ...(version === 0 ? MAKE : [[RAISE, version, SCHEMA_VERSION] as const]),
  ...migrations.slice(version).flatMap((step) => step.map((text) => [text] as const)),
]

/** The `OpenError` of a failed migration, in one line. */
function explain(error: unknown): unknown {
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

/** Migrates a database to {@link SCHEMA_VERSION}. Resolves to the version it had. Rejects with an `OpenError` if it cannot. */
export async function migrate(sql: SQL): Promise<number> {
  for (let tries = 1; ; tries += 1) {
    try {
      const version = await schemaVersion(sql)
      if (version < SCHEMA_VERSION) await commit(sql, stepsFrom(version))
      return version
    } catch (error) {
      if (!CONFLICTS.includes(sqlStateOf(error)) || tries === MOST_TRIES) throw explain(error)
      await Bun.sleep(Math.random() * PAUSE_MS)
    }
  }
}
