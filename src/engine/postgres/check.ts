// Checks a server's database: settings, schema, privileges, and every plant.

import type { SQL } from 'bun'
import { messageOf, OpenError } from '../../errors'
import type { Log } from '../../log'
import type { Findings } from '../../store'
import { describeForeignPart, describeMiscount } from '../foreign-part'
import type { Ask, Connection } from './connecting/connection'
import { indexNamed, isLockTimeout, sqlStateOf } from './connecting/errors'
import { LOCK_MS } from './connecting/settings'
import { limitLocks, rollBack, type Statement, sendAll, texts } from './connecting/statements'
import type { PostgresTarget } from './connecting/url'
import { statementsOf } from './rehearsal'
import { readAlterations } from './schema/alterations'
import { MIGRATION_STATEMENTS, SCHEMA_VERSION } from './schema/migrations'
import { countPlants } from './sql/plants'
import { allPlants, beginSnapshot, readAlone, requireSchema } from './sql/snapshot'

const DEADLINE_MS = 15_000

const NO_TEMPORARY =
  'the user cannot create temporary tables; run GRANT TEMPORARY ON DATABASE … TO the user'

/** A part of a schema: a column and its type, or something else and its table. */
type Part = {
  readonly kind: 'column' | 'index' | 'constraint'
  readonly name: string
  readonly detail: string
  /** True if it may refuse or discard a row that plantstore writes. */
  readonly refuses: boolean
}

// The tables in the search_path. information_schema omits those for which the user has no privileges.
const OURS = '(SELECT to_regclass(it) AS it FROM unnest($1::text[]) AS it)'
const SELECT_PARTS = `
  SELECT 'column' AS kind, relname || '.' || attname AS name,
    format_type(atttypid, NULL)
      || coalesce(' "' || (SELECT collname FROM pg_collation
          WHERE oid = attcollation AND collname <> 'default') || '"', '')
      || CASE WHEN attnotnull THEN ' not null' ELSE '' END AS detail,
    attnotnull AND NOT atthasdef AS refuses
  FROM pg_attribute JOIN pg_class ON pg_class.oid = attrelid
  WHERE attrelid IN ${OURS} AND attnum > 0 AND NOT attisdropped
  UNION ALL SELECT 'constraint', conname, conrelid::regclass::text, true
  FROM pg_constraint WHERE contype IN ('c', 'f', 'u', 'x') AND conrelid IN ${OURS}
  UNION ALL SELECT 'index', relname,
    indrelid::regclass || CASE WHEN indisvalid THEN '' ELSE ' (invalid)' END,
    indisunique AND NOT EXISTS (SELECT FROM pg_constraint WHERE conindid = indexrelid)
  FROM pg_index JOIN pg_class ON pg_class.oid = indexrelid WHERE indrelid IN ${OURS}
  ORDER BY kind, name`

const readParts = (sql: SQL, tables: readonly string[]) =>
  sql.unsafe<Part[]>(SELECT_PARTS, [texts(sql, tables)])

const SELECT_TEMPORARY = `
  SELECT relname AS name FROM pg_class WHERE relnamespace = pg_my_temp_schema() AND relkind = 'r'`

/** Makes the schema in temporary tables, which are rolled back. Resolves to the names of its tables, and its parts. */
async function expectedSchema(sql: SQL): Promise<{ tables: readonly string[]; parts: Part[] }> {
  try {
    await sendAll(sql, ['BEGIN', ['SET LOCAL search_path = pg_temp'], ...MIGRATION_STATEMENTS])
    const names = await sql.unsafe<{ name: string }[]>(SELECT_TEMPORARY)
    const tables = names.map(({ name }) => name)
    return { tables, parts: await readParts(sql, tables) }
  } finally {
    await rollBack(sql)
  }
}

/** Changes of the schema by other programs, a line each. */
async function checkSchema({ sql, within }: Connection): Promise<string[]> {
  const { tables, parts } = await within(DEADLINE_MS, expectedSchema(sql)).catch((error) => {
    throw sqlStateOf(error) === '42501' ? new OpenError(NO_TEMPORARY) : error
  })
  const actual = await within(DEADLINE_MS, readParts(sql, tables))
  const isNamed = (kind: string, name: string) => (part: Part) =>
    part.kind === kind && part.name === name
  const differences = parts.flatMap(({ kind, name, detail }) => {
    const actualPart = actual.find(isNamed(kind, name))
    if (actualPart?.detail === detail || kind === 'constraint') return []
    if (kind === 'index') return [`index ${name} is missing or invalid`]
    return [`column ${name} is ${actualPart?.detail ?? 'missing'}; expected ${detail}`]
  })
  const foreignParts = actual
    .filter(({ kind, name, refuses }) => refuses && !parts.some(isNamed(kind, indexNamed(name))))
    .map(({ kind, name, detail }) =>
      kind === 'column'
        ? `column ${name} is not plantstore's and must not be null; every write fails`
        : describeForeignPart(kind === 'index' ? 'unique index' : kind, name, detail),
    )
  const alterations = await within(DEADLINE_MS, readAlterations(sql))
  const alterationTexts = alterations
    .filter(({ kind }) => kind !== 'column')
    .map(({ text }) => text)
  return [...differences, ...foreignParts, ...alterationTexts]
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
      problems.add(`${messageOf(error)} (${sqlStateOf(error)})`)
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
  const { points, pages, tokens } = statementsOf(connection.sql)
  return checkStatements(connection, [...points, ...pages, ...tokens])
}

/** Problems that make no request fail. */
async function checkRetention(connection: Connection): Promise<string[]> {
  const refusals = await checkStatements(connection, statementsOf(connection.sql).retention)
  return refusals.map((refusal) => `old changes cannot be removed: ${refusal}`)
}

const ONE_COUNT =
  'table plant_count must have one row; run DELETE FROM plant_count; INSERT INTO plant_count (plants) VALUES (0)'

const RECOUNT =
  'UPDATE plant_count SET plants = (SELECT count(*) FROM plants) - (SELECT coalesce(sum(added), 0) FROM lanes)'
const ONE_LOG = 'tables change_log and change_log_start must have one row each'

async function wrongRecords(ask: Ask, plants: number): Promise<string[]> {
  const logs = await ask((sql) => sql`SELECT FROM change_log CROSS JOIN change_log_start`)
  const lines = logs.length === 1 ? [] : [ONE_LOG]
  const recorded = await ask(countPlants)
  if (recorded === null) return [...lines, ONE_COUNT]
  return recorded === plants ? lines : [...lines, describeMiscount(recorded, plants, RECOUNT)]
}

/**
 * Reads a server's whole database, as of one moment, on one connection. Rejects with an `OpenError` if it cannot be
 * opened.
 */
export function checkServer(target: PostgresTarget, log: Log = () => {}): Promise<Findings> {
  return readAlone(target, log, async (ask, connection) => {
    const schemaVersion = await requireSchema(ask, target)
    // An older schema differs; the daemon migrates it.
    const isCurrent = schemaVersion === SCHEMA_VERSION
    const mayWrite = isCurrent && connection.standing.isWritable
    // First, as neither is possible in a read-only snapshot.
    const useProblems = mayWrite ? await checkUse(connection) : []
    const emptyFindings = { schemaVersion, plants: 0, tokens: 0, wrongRecords: [] }
    if (useProblems.length > 0) return { ...emptyFindings, problems: useProblems }
    const warnings = mayWrite ? await checkRetention(connection) : []
    await beginSnapshot(ask)
    const { plants, problems } = await readAll(ask)
    if (problems.length > 0) return { ...emptyFindings, problems }
    const wrong = isCurrent ? await wrongRecords(ask, plants) : []
    const [row] = await ask((sql) => sql<{ count: bigint }[]>`SELECT count(*) FROM tokens`)
    const tokens = Number(row?.count)
    return { schemaVersion, plants, tokens, problems, warnings, wrongRecords: wrong }
  })
}
