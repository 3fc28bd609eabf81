// Checks a server's database: settings, schema, privileges, and that every plant can be read.

import { messageOf, OpenError } from '../../errors'
import type { Findings } from '../../store'
import { countProblems } from '../plant-count'
import { type Ask, connect } from './connection'
import { indexNamed, sqlStateOf } from './errors'
import { logProblems } from './journal'
import { SCHEMA_VERSION } from './migrations'
import { countPlants } from './plants'
import { statementsOf } from './rehearsal'
import { allPlants, readSnapshot } from './snapshot'
import { sendAll, texts } from './statements'
import type { PostgresTarget } from './url'

const DEADLINE_MS = 15_000
// A broken log of changes could have as many problems as entries.
const MOST_PROBLEMS = 10

/** The columns as plantstore makes them; a difference was made by another program. */
const COLUMNS: Readonly<Record<string, string>> = {
  'plants.id': 'bigint not null',
  'plants.name': 'text "C" not null',
  'plants.tag': 'text "C"',
  'tokens.name': 'text "C" not null',
  'tokens.hash': 'text "C" not null',
  'tokens.scope': 'text not null',
  'tokens.created_at': 'bigint not null',
  'tokens.expires_at': 'bigint',
  'tokens.revoked_at': 'bigint',
  'tokens.last_used_at': 'bigint',
  'lanes.lane': 'text not null',
  'lanes.seq': 'bigint not null',
  'lanes.fenced_from': 'bigint',
  'lanes.refused': 'text not null',
  'lanes.seen_at': 'timestamp with time zone not null',
  'lanes.logs': 'boolean not null',
  'lanes.added': 'bigint not null',
  'plant_count.plants': 'bigint not null',
  'changes.number': 'bigint not null',
  'changes.at': 'bigint not null',
  'changes.action': 'text not null',
  'changes.plant': 'bigint not null',
  'changes.before': 'text',
  'changes.after': 'text',
  'changes.token': 'text',
  'changes.address': 'text',
  'changes.request': 'text',
  'change_log.log': 'text',
  'change_log.keep_ms': 'bigint',
  'change_log.last': 'bigint not null',
  'change_log.timeline': 'text not null',
}
const TABLES = [...new Set(Object.keys(COLUMNS).map((name) => name.replace(/\..*/, '')))]
const UNIQUE = ['plants_pkey', 'tokens_pkey', 'tokens_by_name', 'lanes_pkey', 'changes_pkey']
const INDEXES = [...UNIQUE, 'plants_by_tag', 'changes_by_plant']
/** What may refuse a row. */
const CONSTRAINTS = ['constraint tokens_scope_check', ...UNIQUE.map((it) => `unique index ${it}`)]

const OURS = '(SELECT to_regclass(it) FROM unnest($1::text[]) AS it)'

type Column = { readonly name: string; readonly type: string; readonly isNeeded: boolean }
// Not information_schema, which leaves out what the user has no privileges for.
const SELECT_COLUMNS = `
  SELECT relname || '.' || attname AS name,
    format_type(atttypid, NULL)
      || coalesce(' "' || (SELECT collname FROM pg_collation
          WHERE oid = attcollation AND collname <> 'default') || '"', '')
      || CASE WHEN attnotnull THEN ' not null' ELSE '' END AS type,
    attnotnull AND NOT atthasdef AS "isNeeded"
  FROM pg_attribute JOIN pg_class ON pg_class.oid = attrelid
  WHERE attrelid IN ${OURS} AND attnum > 0 AND NOT attisdropped`

const SELECT_INDEXES = `
  SELECT relname AS name FROM pg_index JOIN pg_class ON pg_class.oid = indexrelid
  WHERE indisvalid AND indrelid IN ${OURS}`

type Constraint = { readonly name: string; readonly table: string }
const SELECT_CONSTRAINTS = `
  SELECT 'constraint ' || conname AS name, conrelid::regclass::text AS table FROM pg_constraint
  WHERE contype IN ('c', 'f', 'u', 'x') AND conrelid IN ${OURS}
  UNION ALL SELECT 'unique index ' || relname, indrelid::regclass::text
  FROM pg_index JOIN pg_class ON pg_class.oid = indexrelid
  WHERE indisunique AND indrelid IN ${OURS}
    AND NOT EXISTS (SELECT FROM pg_constraint WHERE conindid = indexrelid)
  ORDER BY name`

async function checkSchema(ask: Ask): Promise<string[]> {
  const select = <Row>(text: string) => ask((sql) => sql.unsafe<Row[]>(text, [texts(sql, TABLES)]))
  const columns = await select<Column>(SELECT_COLUMNS)
  const types = new Map(columns.map(({ name, type }) => [name, type]))
  const found = await select<Pick<Constraint, 'name'>>(SELECT_INDEXES)
  const indexes = new Set(found.map(({ name }) => name))
  const constraints = await select<Constraint>(SELECT_CONSTRAINTS)
  return [
    ...Object.entries(COLUMNS)
      .filter(([name, type]) => types.get(name) !== type)
      .map(([name, type]) => `column ${name} is ${types.get(name) ?? 'missing'}; expected ${type}`),
    ...columns
      .filter(({ name, isNeeded }) => isNeeded && !(name in COLUMNS))
      .map(
        ({ name }) => `column ${name} is not plantstore's and must not be null; every write fails`,
      ),
    ...INDEXES.filter((name) => !indexes.has(name)).map(
      (name) => `index ${name} is missing or invalid`,
    ),
    ...constraints
      .filter(({ name }) => !CONSTRAINTS.includes(indexNamed(name)))
      .map(({ name, table }) => `${name} on ${table} is not plantstore's; writes may fail`),
  ]
}

/** What the server refuses of the statements that plantstore sends, without a change of anything. */
async function checkStatements(target: PostgresTarget): Promise<string[]> {
  const { sql, within, close } = await connect(target)
  try {
    const answers = await within(
      DEADLINE_MS,
      Promise.allSettled(statementsOf(sql).map((it) => sendAll(sql, [it]))),
    )
    const problems = answers.flatMap((it) =>
      it.status === 'rejected' ? [`${messageOf(it.reason)} (${sqlStateOf(it.reason)})`] : [],
    )
    return [...new Set(problems)]
  } finally {
    await close()
  }
}

/** Makes the planner prefer indexes, or avoid them, until the transaction ends. */
async function preferIndexes(ask: Ask, isPreferred: boolean): Promise<void> {
  const plans = isPreferred ? ['seqscan'] : ['indexscan', 'indexonlyscan', 'bitmapscan']
  for (const plan of ['seqscan', 'indexscan', 'indexonlyscan', 'bitmapscan']) {
    await ask((sql) => sql.unsafe(`SET LOCAL enable_${plan} = ${!plans.includes(plan)}`))
  }
}

/** Reads all plants by the index and counts the rows without it. Resolves to the number of plants, and what is wrong. */
async function readAll(ask: Ask): Promise<{ plants: number; problems: string[] }> {
  let plants = 0
  try {
    await preferIndexes(ask, true)
    for await (const part of allPlants(ask)) plants += part.length
    await preferIndexes(ask, false)
    const [row] = await ask((sql) => sql<{ count: bigint }[]>`SELECT count(*) FROM plants`)
    const rows = Number(row?.count)
    if (rows === plants) return { plants, problems: [] }
    return { plants, problems: [`the table has ${rows} plants, its index ${plants}; run REINDEX`] }
  } catch (error) {
    if (!(error instanceof OpenError && error.storage)) throw error
    return { plants, problems: [error.message] }
  }
}

/** Reads a server's whole database, as of one moment. Rejects with an `OpenError` if it cannot be opened. */
export function checkServer(target: PostgresTarget): Promise<Findings> {
  return readSnapshot(target, async (ask, version) => {
    // An older schema differs; the daemon migrates it.
    const isCurrent = version === SCHEMA_VERSION
    const schema = isCurrent ? await checkSchema(ask) : []
    const found = isCurrent && schema.length === 0 ? await checkStatements(target) : schema
    if (found.length > 0) {
      return { schemaVersion: version, plants: 0, tokens: 0, problems: found }
    }
    const { plants, problems } = await readAll(ask)
    if (isCurrent && problems.length === 0) {
      problems.push(...countProblems(await ask(countPlants), plants))
    }
    for await (const problem of isCurrent ? logProblems(ask) : []) {
      if (problems.push(problem) > MOST_PROBLEMS) break
    }
    const [row] = await ask((sql) => sql<{ count: bigint }[]>`SELECT count(*) FROM tokens`)
    return { schemaVersion: version, plants, tokens: Number(row?.count), problems }
  })
}
