// Checks a server's database: settings, schema, privileges, and every plant.

import { messageOf, OpenError } from '../../errors'
import type { Log } from '../../log'
import type { Findings } from '../../store'
import { describeForeignPart, describeMiscount } from '../foreign-part'
import { OWN_TABLES, readAlterations, select } from './alterations'
import type { Ask, Connection } from './connection/connection'
import { isLockTimeout, sqlStateOf } from './connection/errors'
import { LOCK_MS } from './connection/settings'
import { limitLocks, type Statement, sendAll, texts } from './connection/statements'
import type { PostgresTarget } from './connection/url'
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
const COLUMN =
  /^ {2}([a-z_]+) ([a-z ]+?)( COLLATE "C")?( NOT NULL| PRIMARY KEY)?( DEFAULT.*| CONSTRAINT.*)?,?$/gm
/** The columns of the schema: their names, and what each has. */
const OWN_COLUMNS = [...SCHEMA.matchAll(/CREATE TABLE (\w+) \((.*?)\n\)/gs)].flatMap(
  ([, table, body = '']) =>
    [...body.matchAll(COLUMN)].map(([, name, type, collation, isRequired]) => [
      `${table}.${name}`,
      `${type}${collation ? ' "C"' : ''}${isRequired ? ' not null' : ''}`,
    ]),
)

// $1: own names; $2: own indexes; $3, $4: own columns. An index that is built again has another name for a while.
const FOREIGN = '<> ALL($1::text[])'
const INDEX = "regexp_replace(relname, '(_pkey)?(_cc(new|old)\\d*)?$', '')"
const INDEXES = `pg_index JOIN pg_class ON pg_class.oid = indexrelid WHERE indrelid IN ${OWN_TABLES}`
const COLUMNS = `pg_attribute WHERE attrelid IN ${OWN_TABLES} AND attnum > 0 AND NOT attisdropped`
const SELECT_FAULTS = [
  `${select('column %s is %s; expected %s', 'name', "coalesce(actual.detail, 'missing')", 'expected.detail')}
  FROM unnest($3::text[], $4::text[]) AS expected (name, detail) LEFT JOIN (
    SELECT attrelid::regclass || '.' || attname AS name, format_type(atttypid, NULL)
      || CASE attcollation WHEN 'pg_catalog."C"'::regcollation THEN ' "C"' ELSE '' END
      || CASE WHEN attnotnull THEN ' not null' ELSE '' END AS detail FROM ${COLUMNS}
  ) AS actual USING (name) WHERE actual.detail IS DISTINCT FROM expected.detail`,
  `${select("column %s.%s is not plantstore's and must not be null; every write fails", 'attrelid::regclass', 'attname')}
  FROM ${COLUMNS} AND attnotnull AND NOT atthasdef AND attname ${FOREIGN}`,
  `${select(describeForeignPart('constraint', '%s', '%s'), 'conname', 'conrelid::regclass')}
  FROM pg_constraint
  WHERE conrelid IN ${OWN_TABLES} AND contype IN ('c', 'f', 'u', 'x') AND conname ${FOREIGN}`,
  `${select(describeForeignPart('unique index', '%s', '%s'), 'relname', 'indrelid::regclass')}
  FROM ${INDEXES} AND indisunique AND ${INDEX} ${FOREIGN}
    AND NOT EXISTS (SELECT FROM pg_constraint WHERE conindid = indexrelid)`,
  `${select('index %s is missing or invalid', 'name')} FROM unnest($2::text[]) AS name
  WHERE NOT EXISTS (SELECT FROM ${INDEXES} AND relname = name AND indisvalid)`,
].join(' UNION ALL ')

const describeRefusal = (error: unknown): string => `${messageOf(error)} (${sqlStateOf(error)})`

/** Changes of the schema by other programs, a line each. */
async function checkSchema({ sql, within }: Connection): Promise<string[]> {
  const columns = [0, 1].map((place) => OWN_COLUMNS.map((column) => column[place] ?? ''))
  const parameters = [OWN_NAMES, OWN_INDEXES, ...columns].map((values) => texts(sql, values))
  const selecting = sql.unsafe<{ text: string }[]>(`${SELECT_FAULTS} ORDER BY text`, parameters)
  const faults = await within(DEADLINE_MS, selecting)
  const alterations = await within(DEADLINE_MS, readAlterations(sql)).catch((error) => {
    if (sqlStateOf(error) === '') throw error
    return [describeRefusal(error)]
  })
  return [...faults.map(({ text }) => text), ...alterations]
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
