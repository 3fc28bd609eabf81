// The reads of commands: on one connection, without writing; an export and a check as of one moment.

import { createChangeLogWatch } from '../../change-log/watch'
import { OpenError } from '../../errors'
import type { Log } from '../../log'
import { type Plant, TEXT_FIELDS } from '../../plant/plant'
import { COLUMNS, type PlantRecord, plantOf } from '../../plant/row'
import type { ReadOnlyStore } from '../../store'
import { createChangeLogReader } from '../change-log-reader'
import type { Ask, Connection } from './connection/connection'
import { describeError, sqlStateOf } from './connection/errors'
import { chooseForCommand, connect, NEW_CONTEXT } from './connection/hosts'
import { addressOf, type PostgresTarget } from './connection/url'
import { requireSchema } from './schema'
import { changeLogQueries } from './sql/change-log'
import { octetsOf } from './sql/plants'
import { listTokens } from './sql/tokens'

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
function explainFailedRead(error: unknown, { host }: Connection): OpenError {
  if (error instanceof OpenError) return error
  return new OpenError(
    `cannot read from PostgreSQL at ${addressOf(host)}: ${describeError(error)}`,
    /^(53100|58|XX)/.test(sqlStateOf(error)),
  )
}

/** Connects, and reads with errors that name the host. Rejects with an `OpenError` if no host can be used. */
export async function openSession(target: PostgresTarget, log: Log) {
  const connection = await connect(target, chooseForCommand, undefined, { ...NEW_CONTEXT, log })
  const ask: Ask = async (query) => {
    try {
      return await connection.ask(query, DEADLINE_MS)
    } catch (error) {
      throw explainFailedRead(error, connection)
    }
  }
  return { ask, connection, [Symbol.asyncDispose]: () => connection.close() }
}

/** Opens a database. Rejects with an `OpenError` if there is no plantstore, or a newer one made it. */
export async function openReadOnly(target: PostgresTarget, log: Log): Promise<ReadOnlyStore> {
  await using session = new AsyncDisposableStack()
  const { ask } = session.use(await openSession(target, log))
  await requireSchema(ask, target)
  const { read } = createChangeLogReader(changeLogQueries(ask))
  const opened = session.move()
  return {
    listTokens: () => ask(listTokens),
    changeLog: { read, watch: createChangeLogWatch(read).watch },
    close: () => opened.disposeAsync(),
  }
}

// A snapshot locks no rows, and may wait for its reader: an export in a pipe, or one stopped with Ctrl-Z. Through a
// pooler, rows that a policy would hide are an error too.
const BEGIN = `BEGIN ISOLATION LEVEL REPEATABLE READ READ ONLY; SET LOCAL row_security = off;
  SET LOCAL lock_timeout = 0; SET LOCAL idle_in_transaction_session_timeout = 0; SET LOCAL tcp_user_timeout = 0`

/** Begins a read-only snapshot, which lasts until the connection is closed. */
export const beginSnapshot = (ask: Ask): Promise<unknown> => ask((sql) => sql.unsafe(BEGIN))

/** Runs `read` in a read-only snapshot. Rejects with an `OpenError` if the database cannot be read. */
export async function readSnapshot<T>(
  target: PostgresTarget,
  log: Log,
  read: (ask: Ask) => Promise<T>,
): Promise<T> {
  await using session = await openSession(target, log)
  await beginSnapshot(session.ask)
  await requireSchema(session.ask, target)
  return await read(session.ask)
}
