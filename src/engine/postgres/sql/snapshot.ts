// A read-only snapshot of a server's database, on a separate connection.

import { OpenError } from '../../../errors'
import type { Log } from '../../../log'
import { type Plant, TEXT_FIELDS } from '../../../plant/plant'
import { COLUMNS, type PlantRecord, plantOf } from '../../../plant/row'
import type { Ask, Connection } from '../connection/connection'
import { sqlStateOf } from '../connection/errors'
import { chooseForCommand, connect } from '../connection/hosts'
import { addressOf, type PostgresTarget } from '../connection/url'
import { hasSchema } from '../schema'
import { octetsOf } from './plants'

const PLANTS_AT_ONCE = 1000
const BYTES_AT_ONCE = 4_000_000
// Deadline of one query; an export sends many.
const DEADLINE_MS = 60_000

// A part ends with the plant that exceeds its bytes. The server cuts it, which limits the memory used here.
const PART = `
    SELECT ${COLUMNS} FROM (
      SELECT ${COLUMNS},
        sum(${octetsOf(TEXT_FIELDS)}) OVER (
          ORDER BY id ROWS BETWEEN UNBOUNDED PRECEDING AND 1 PRECEDING
        ) AS before
      FROM (
        SELECT ${COLUMNS} FROM plants WHERE $1::bigint IS NULL OR id > $1::bigint
        ORDER BY id LIMIT ${PLANTS_AT_ONCE}
      ) page
    ) measured WHERE coalesce(before, 0) < ${BYTES_AT_ONCE} ORDER BY id`

/** All plants in ascending order of their ids, in parts that fit in memory. */
export async function* allPlants(ask: Ask): AsyncGenerator<readonly Plant[]> {
  let after: bigint | null = null
  for (;;) {
    const rows: PlantRecord[] = await ask((sql) => sql.unsafe<PlantRecord[]>(PART, [after]))
    const last = rows.at(-1)
    if (!last) return
    after = last.id
    yield rows.map(plantOf)
  }
}

/** The `OpenError` of a failed read; `storage` if the server's disk or data is at fault. */
function explainFailedRead(error: unknown, { host }: Connection): unknown {
  const state = sqlStateOf(error)
  if (error instanceof OpenError || !(error instanceof Error)) return error
  const isStorage = /^(53100|58|XX)/.test(state)
  return new OpenError(
    `cannot read from PostgreSQL at ${addressOf(host)}: ${error.message}`,
    isStorage,
  )
}

const MAY_CREATE = `SELECT coalesce(has_schema_privilege(current_schema(), 'CREATE'), false) AS "mayCreate"`

/** The error for a database without a plantstore, or whose plantstore this user cannot see. */
async function missingStore(ask: Ask, { redacted, user }: PostgresTarget): Promise<OpenError> {
  const [row] = await ask((sql) => sql.unsafe<{ mayCreate: boolean }[]>(MAY_CREATE))
  return new OpenError(
    row?.mayCreate
      ? `no plantstore in ${redacted}; create it with "plantstore serve" or "plantstore import"`
      : `user ${JSON.stringify(user)} sees no plantstore in ${redacted}; check search_path, or run GRANT USAGE ON SCHEMA … TO the user`,
  )
}

/** Rejects with an `OpenError` if there is no plantstore that this program reads. */
export async function requireSchema(ask: Ask, target: PostgresTarget): Promise<void> {
  if (!(await ask(hasSchema))) throw await missingStore(ask, target)
}

/** Reads on a new connection. Rejects with an `OpenError` if the database cannot be read. */
export async function readAlone<T>(
  target: PostgresTarget,
  log: Log,
  read: (ask: Ask, connection: Connection) => Promise<T>,
): Promise<T> {
  const connection = await connect(target, chooseForCommand, undefined, { log })
  const ask: Ask = async (query) => {
    try {
      return await connection.within(DEADLINE_MS, query(connection.sql))
    } catch (error) {
      throw explainFailedRead(error, connection)
    }
  }
  try {
    return await read(ask, connection)
  } finally {
    await connection.close()
  }
}

// A snapshot locks no rows, and may wait for its reader: an export in a pipe, or one stopped with Ctrl-Z. Rows that a
// policy would hide are an error.
const WITHOUT_TIME_LIMITS = `SELECT set_config('row_security', 'off', true),
   set_config('idle_in_transaction_session_timeout', '0', true),
  set_config('tcp_user_timeout', '0', true)`

/** Begins a read-only snapshot, which lasts until the connection is closed. */
export async function beginSnapshot(ask: Ask): Promise<void> {
  await ask((sql) => sql.unsafe('BEGIN ISOLATION LEVEL REPEATABLE READ READ ONLY'))
  await ask((sql) => sql.unsafe(WITHOUT_TIME_LIMITS))
}

/** Runs `read` in a read-only snapshot. Rejects with an `OpenError` if the database cannot be read. */
export const readSnapshot = <T>(
  target: PostgresTarget,
  log: Log,
  read: (ask: Ask) => Promise<T>,
): Promise<T> =>
  readAlone(target, log, async (ask) => {
    await beginSnapshot(ask)
    await requireSchema(ask, target)
    return read(ask)
  })
