// Checks a server's database: settings, schema, privileges, and every plant.

import { messageOf, OpenError } from '../../errors'
import type { Log } from '../../log'
import type { Findings } from '../../store'
import { describeForeignPart, describeMiscount } from '../foreign-part'
import { OWN_TABLES, readAlterations } from './alterations'
import type { Ask, Connection } from './connecting/connection'
import { indexNamed, isLockTimeout, sqlStateOf } from './connecting/errors'
import { LOCK_MS } from './connecting/settings'
import { limitLocks, type Statement, sendAll, texts } from './connecting/statements'
import type { PostgresTarget } from './connecting/url'
import { SCHEMA, SCHEMA_VERSION } from './schema'
import { writeStatements } from './sql/apply-writes'
import { READ_PLACE, REMOVE_NOTHING } from './sql/change-log'
import { countPlants } from './sql/plants'
import { allPlants, beginSnapshot, readAlone, requireSchema } from './sql/snapshot'
import { FIND_NONE } from './sql/tokens'

const DEADLINE_MS = 15_000

// What has another name than any word of the schema is not plantstore's.
const OWN_NAMES: readonly string[] = SCHEMA.match(/\w+/g) ?? []
const OWN_INDEXES = [...SCHEMA.matchAll(/CREATE (?:UNIQUE )?INDEX (\w+)/g)].map(
  ([, name = '']) => name,
)

// Parts of other programs that may refuse a row, and missing indexes.
const SELECT_FAULTS = `
  SELECT 'column' AS kind, attname AS name, attrelid::regclass::text AS detail FROM pg_attribute
  WHERE attrelid IN ${OWN_TABLES} AND attnum > 0 AND NOT attisdropped AND attnotnull AND NOT atthasdef
  UNION ALL SELECT 'constraint', conname, conrelid::regclass::text FROM pg_constraint
  WHERE conrelid IN ${OWN_TABLES} AND contype IN ('c', 'f', 'u', 'x')
  UNION ALL SELECT 'unique index', relname, indrelid::regclass::text
  FROM pg_index JOIN pg_class ON pg_class.oid = indexrelid
  WHERE indrelid IN ${OWN_TABLES} AND indisunique
    AND NOT EXISTS (SELECT FROM pg_constraint WHERE conindid = indexrelid)
  UNION ALL SELECT 'missing', name, '' FROM unnest($1::text[]) AS name
  WHERE NOT EXISTS (
    SELECT FROM pg_index JOIN pg_class ON pg_class.oid = indexrelid
    WHERE relname = name AND indrelid IN ${OWN_TABLES} AND indisvalid
  )
  ORDER BY kind, name`

type Fault = { readonly kind: string; readonly name: string; readonly detail: string }

function describeFault({ kind, name, detail }: Fault): string[] {
  if (kind === 'missing') return [`index ${name} is missing or invalid`]
  if (OWN_NAMES.includes(indexNamed(name))) return []
  if (kind === 'column')
    return [`column ${detail}.${name} is not plantstore's and must not be null; every write fails`]
  return [describeForeignPart(kind, name, detail)]
}

const describeRefusal = (error: unknown): string => `${messageOf(error)} (${sqlStateOf(error)})`

/** Changes of the schema by other programs, a line each. */
async function checkSchema({ sql, within }: Connection): Promise<string[]> {
  const selecting = sql.unsafe<Fault[]>(SELECT_FAULTS, [texts(sql, OWN_INDEXES)])
  const faults = await within(DEADLINE_MS, selecting)
  const alterations = await within(DEADLINE_MS, readAlterations(sql)).catch((error) => {
    if (sqlStateOf(error) === '') throw error
    return [describeRefusal(error)]
  })
  return [...faults.flatMap(describeFault), ...alterations]
}

/**
 * Sends statements without changing anything. Resolves to the server's refusals, up to the first lock that is not
 * granted.
 */
async function checkStatements(
  { sql, within }: Connection,
  statements: readonly Statement[],
): Promise<string[]> {
  const problems = new Set<string>()
  for (const statement of statements) {
    try {
      const trial = sendAll(sql, ['BEGIN', limitLocks(LOCK_MS), statement, ['ROLLBACK']])
      await within(DEADLINE_MS, trial)
    } catch (error) {
      problems.add(describeRefusal(error))
      if (isLockTimeout(error)) break
    }
  }
  return [...problems]
}

/** Makes the planner prefer indexes, or avoid them, until the transaction ends. */
async function preferIndexes(ask: Ask, isPreferred: boolean): Promise<void> {
  const plans = isPreferred ? ['seqscan'] : ['indexscan', 'indexonlyscan', 'bitmapscan']
  for (const plan of ['seqscan', 'indexscan', 'indexonlyscan', 'bitmapscan']) {
    await ask((sql) => sql.unsafe(`SET LOCAL enable_${plan} = ${!plans.includes(plan)}`))
  }
}

/** Reads all plants by the index and counts the rows without it. Resolves to the number of plants, and the problems. */
async function readAll(ask: Ask): Promise<{ plants: number; problems: string[] }> {
  let plants = 0
  try {
    await preferIndexes(ask, true)
    for await (const part of allPlants(ask)) plants += part.length
    await preferIndexes(ask, false)
    const [row] = await ask((sql) => sql<{ count: bigint }[]>`SELECT count(*) FROM plants`)
    await preferIndexes(ask, true)
    const rows = Number(row?.count)
    if (rows === plants) return { plants, problems: [] }
    return { plants, problems: [`the table has ${rows} plants, its index ${plants}; run REINDEX`] }
  } catch (error) {
    if (!(error instanceof OpenError && error.storage)) throw error
    return { plants, problems: [error.message] }
  }
}

/** Reasons why this program cannot work with a database of its schema version. */
async function checkUse(connection: Connection): Promise<string[]> {
  const schema = await checkSchema(connection)
  if (schema.length > 0) return schema
  const statements = [...writeStatements(connection.sql), READ_PLACE, FIND_NONE]
  return checkStatements(connection, statements)
}

/** Problems that make no request fail. */
async function checkRetention(connection: Connection): Promise<string[]> {
  const refusals = await checkStatements(connection, [REMOVE_NOTHING])
  return refusals.map((refusal) => `old changes cannot be removed: ${refusal}`)
}

const ONE_COUNT =
  'table plant_count must have one row; run DELETE FROM plant_count; INSERT INTO plant_count (plants) VALUES (0)'

const RECOUNT =
  'UPDATE plant_count SET plants = (SELECT count(*) FROM plants) - (SELECT coalesce(sum(added), 0) FROM lanes)'

async function wrongRecords(ask: Ask, plants: number): Promise<string[]> {
  const recorded = await ask(countPlants)
  if (recorded === null) return [ONE_COUNT]
  return recorded === plants ? [] : [describeMiscount(recorded, plants, RECOUNT)]
}

/**
 * Reads a server's whole database, as of one moment, on one connection. Rejects with an `OpenError` if it cannot be
 * opened.
 */
export function checkServer(target: PostgresTarget, log: Log = () => {}): Promise<Findings> {
  return readAlone(target, log, async (ask, connection) => {
    await requireSchema(ask, target)
    const mayWrite = connection.standing.isWritable
    // First, as neither is possible in a read-only snapshot.
    const useProblems = mayWrite ? await checkUse(connection) : []
    const schemaVersion = SCHEMA_VERSION
    const emptyFindings = { schemaVersion, plants: 0, tokens: 0, wrongRecords: [] }
    if (useProblems.length > 0) return { ...emptyFindings, problems: useProblems }
    const warnings = mayWrite ? await checkRetention(connection) : []
    await beginSnapshot(ask)
    const { plants, problems } = await readAll(ask)
    if (problems.length > 0) return { ...emptyFindings, problems }
    const [row] = await ask((sql) => sql<{ count: bigint }[]>`SELECT count(*) FROM tokens`)
    const tokens = Number(row?.count)
    return {
      schemaVersion,
      plants,
      tokens,
      problems,
      warnings,
      wrongRecords: await wrongRecords(ask, plants),
    }
  })
}
