// Checks a server's database: settings, schema, privileges, and every plant.

import { OpenError } from '../../errors'
import type { Log } from '../../log'
import type { Findings } from '../../store'
import { describeMiscount } from '../schema-messages'
import { OWN_TABLES, readAlterations, select, textsOf } from './alterations'
import type { Ask, Connection } from './connection/connection'
import { describeError } from './connection/errors'
import { refusalsOf } from './connection/statements'
import type { PostgresTarget } from './connection/url'
import { requireSchema, SCHEMA, SCHEMA_VERSION } from './schema'
import { allPlants, beginSnapshot, openSession } from './snapshot'
import { writeStatements } from './sql/apply-writes'
import { READ_PLACE, REMOVE_NOTHING } from './sql/change-log'
import { countPlants } from './sql/plants'

import { FIND_NONE, listTokens } from './sql/tokens'

const INDEXES = [...SCHEMA.matchAll(/INDEX (\w+)/g)].map(([, name]) => name)
const MISSING_INDEXES = `${select('index %s is missing or invalid', 'name')}
  FROM unnest('{${INDEXES}}'::text[]) AS name WHERE NOT EXISTS (
    SELECT FROM pg_index JOIN pg_class ON pg_class.oid = indexrelid
    WHERE indrelid IN ${OWN_TABLES} AND relname = name AND indisvalid
  )`

const WITHOUT_INDEX =
  'SET LOCAL enable_indexscan = off; SET LOCAL enable_indexonlyscan = off; SET LOCAL enable_bitmapscan = off'

/** Reads all plants by the index and counts the rows without it. Resolves to the number of plants, and the problems. */
async function readAll(ask: Ask): Promise<{ plants: number; problems: string[] }> {
  let plants = 0
  try {
    for await (const part of allPlants(ask)) plants += part.length
    await ask((sql) => sql.unsafe(WITHOUT_INDEX))
    const [row] = await ask((sql) => sql<{ count: bigint }[]>`SELECT count(*) FROM plants`)
    const rows = Number(row?.count)
    if (rows === plants) return { plants, problems: [] }
    return { plants, problems: [`the table has ${rows} plants, its index ${plants}; run REINDEX`] }
  } catch (error) {
    if (!(error instanceof OpenError && error.storage)) throw error
    return { plants, problems: [error.message] }
  }
}

/** Reasons why this program cannot work with a database of its schema version. */
async function checkUse(ask: Ask, connection: Connection): Promise<string[]> {
  const missing = await ask((sql) => textsOf(sql, MISSING_INDEXES))
  const schema = [...missing, ...(await ask(readAlterations))]
  if (schema.length > 0) return schema
  const statements = [...writeStatements(connection.sql), READ_PLACE, REMOVE_NOTHING, FIND_NONE]
  const refusals = await refusalsOf(connection, statements)
  return [...new Set(refusals.map(describeError))]
}

const RECOUNT =
  'UPDATE plant_count SET plants = (SELECT count(*) FROM plants) - (SELECT coalesce(sum(added), 0) FROM lanes)'

/**
 * Reads a server's whole database, as of one moment, on one connection. Rejects with an `OpenError` if it cannot be
 * opened.
 */
export async function checkServer(target: PostgresTarget, log: Log = () => {}): Promise<Findings> {
  await using session = await openSession(target, log)
  const { ask, connection } = session
  await requireSchema(ask, target)
  const findings = { schemaVersion: SCHEMA_VERSION, plants: 0, tokens: 0, wrongRecords: [] }
  // First, as neither is possible in a read-only snapshot.
  const useProblems = connection.standing.isWritable ? await checkUse(ask, connection) : []
  if (useProblems.length > 0) return { ...findings, problems: useProblems }
  await beginSnapshot(ask)
  const { plants, problems } = await readAll(ask)
  if (problems.length > 0) return { ...findings, problems }
  const tokens = (await ask(listTokens)).length
  const wrongRecords = describeMiscount(await ask(countPlants), plants, RECOUNT)
  return { ...findings, plants, tokens, problems, wrongRecords }
}
