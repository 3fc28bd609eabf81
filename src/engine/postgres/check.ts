// Checks the database of a server: its settings, its schema, and that every plant can be read.

import type { SQL } from 'bun'
import { OpenError } from '../../errors'
import type { Findings } from '../../store'
import { SCHEMA_VERSION } from './migrations'
import { type Ask, allPlants, readSnapshot } from './snapshot'
import type { PostgresTarget } from './url'

/** Columns as plantstore makes them: a table that is not so was changed by another program. */
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
}
const INDEXES = ['plants_pkey', 'plants_by_tag', 'tokens_pkey', 'tokens_by_name', 'lanes_pkey']

const selectColumns = (sql: SQL) =>
  sql<{ name: string; type: string }[]>`
    SELECT table_name || '.' || column_name AS name,
      data_type || coalesce(' "' || collation_name || '"', '')
        || CASE is_nullable WHEN 'NO' THEN ' not null' ELSE '' END AS type
    FROM information_schema.columns WHERE table_schema = current_schema()`

const selectIndexes = (sql: SQL) =>
  sql<{ name: string }[]>`
    SELECT relname AS name FROM pg_index JOIN pg_class ON pg_class.oid = indexrelid
    WHERE indisvalid AND indrelid IN (to_regclass('plants'), to_regclass('tokens'), to_regclass('lanes'))`

async function checkSchema(ask: Ask): Promise<string[]> {
  const columns = new Map((await ask(selectColumns)).map(({ name, type }) => [name, type]))
  const indexes = new Set((await ask(selectIndexes)).map(({ name }) => name))
  const wrong = Object.entries(COLUMNS).flatMap(([name, type]) => {
    const found = columns.get(name)
    if (found === type) return []
    return [`column ${name} is ${found ?? 'missing'}; expected ${type}`]
  })
  const missing = INDEXES.filter((name) => !indexes.has(name))
  return [...wrong, ...missing.map((name) => `index ${name} is missing or invalid`)]
}

/** Has the planner use an index, or none, wherever it can, until the transaction ends. */
async function preferIndexes(ask: Ask, isPreferred: boolean): Promise<void> {
  const plans = isPreferred ? ['seqscan'] : ['indexscan', 'indexonlyscan', 'bitmapscan']
  for (const plan of ['seqscan', 'indexscan', 'indexonlyscan', 'bitmapscan']) {
    await ask((sql) => sql.unsafe(`SET LOCAL enable_${plan} = ${!plans.includes(plan)}`))
  }
}

/** Reads all plants by the index, counts the rows of the table past it; returns how many, and what is wrong. */
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

/** Reads the whole database of a server, as of one moment. Rejects with an `OpenError` where it cannot be opened. */
export function checkServer(target: PostgresTarget): Promise<Findings> {
  return readSnapshot(target, async (ask, version) => {
    // An older schema has what its version says; the daemon migrates it.
    const schema = version === SCHEMA_VERSION ? await checkSchema(ask) : []
    if (schema.length > 0) {
      return { schemaVersion: version, plants: 0, tokens: 0, problems: schema }
    }
    const { plants, problems } = await readAll(ask)
    const [row] = await ask((sql) => sql<{ count: bigint }[]>`SELECT count(*) FROM tokens`)
    return { schemaVersion: version, plants, tokens: Number(row?.count), problems }
  })
}
