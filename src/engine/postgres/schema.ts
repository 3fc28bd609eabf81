// The schema: its version, and its creation. Every other version is refused.

import type { SQL } from 'bun'
import { OpenError } from '../../errors'
import { olderSchema, requireKnownSchema } from '../schema-messages'
import type { Ask } from './connection/connection'
import { describeError, isInDoubt } from './connection/errors'
import { commit, limitLocks, rollBack, type Statement, sendAll } from './connection/statements'
import type { PostgresTarget } from './connection/url'
import schema from './schema.sql' with { type: 'text' }

/** The schema version that this program reads and writes. */
export const SCHEMA_VERSION = 7

/** The database in messages about its schema. */
export const DATABASE = 'the database'

// That of 1.0.0.
const FIRST_VERSION = 7

/** Statements that upgrade a database of the schema before, by the version that they make. */
const UPGRADES: Readonly<Record<number, string>> = {}

/** The statements that create the schema. */
export const SCHEMA: string = schema

/** Any number: other plantstores that create the schema of this database wait. */
export const CREATION_LOCK = 7_068_111

// After a wait for a lock, to_regclass() may still miss a new table.
const FIND = `SELECT FROM pg_class WHERE relname = 'plantstore_schema' AND pg_table_is_visible(oid)`

/** The version of a database's schema; null if it has none. Rejects with an `OpenError` if it cannot be upgraded. */
async function readVersion(sql: SQL): Promise<number | null> {
  const tables = await sql.unsafe<unknown[]>(FIND)
  if (tables.length === 0) return null
  const [row] = await sql.unsafe<{ version: number }[]>('SELECT version FROM plantstore_schema')
  const version = row?.version ?? 0
  requireKnownSchema(DATABASE, version, [FIRST_VERSION, SCHEMA_VERSION])
  return version
}

/** Rejects with an `OpenError` if there is no plantstore that this program reads, or this user cannot see it. */
export async function requireSchema(ask: Ask, { redacted, user }: PostgresTarget): Promise<void> {
  const version = await ask(readVersion)
  if (version === SCHEMA_VERSION) return
  if (version !== null) throw olderSchema(DATABASE, version, SCHEMA_VERSION)
  throw new OpenError(
    `user ${JSON.stringify(user)} sees no plantstore in ${redacted}; create it with "plantstore serve" or "plantstore import", or check search_path and run GRANT USAGE ON SCHEMA … TO the user`,
  )
}

/** The statements that create or upgrade a schema; none if it is current. */
function statementsFor(version: number | null): Statement[] {
  if (version === SCHEMA_VERSION) return []
  if (version === null)
    return [[SCHEMA], ['INSERT INTO plantstore_schema VALUES ($1)', SCHEMA_VERSION]]
  const upgrades = Object.entries(UPGRADES).filter(([next]) => Number(next) > version)
  return [
    ...upgrades.map(([, text]): Statement => [text]),
    ['UPDATE plantstore_schema SET version = $1', SCHEMA_VERSION],
  ]
}

/** Creates or upgrades the schema if needed. Rejects with an `OpenError` if it cannot. */
export async function createSchema(sql: SQL): Promise<void> {
  if ((await readVersion(sql)) === SCHEMA_VERSION) return
  try {
    await sendAll(sql, [
      'BEGIN',
      limitLocks(0),
      ['SELECT pg_advisory_xact_lock($1)', CREATION_LOCK],
    ])
    // Another process may have just done so.
    await commit(sql, statementsFor(await readVersion(sql)))
  } catch (error) {
    await rollBack(sql).catch(() => {})
    if (isInDoubt(error)) throw error
    throw new OpenError(
      `cannot create the tables: ${describeError(error)}; run GRANT CREATE, USAGE ON SCHEMA … TO the user, or use another schema with ?search_path=`,
    )
  }
}
