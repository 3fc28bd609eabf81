// The settings of a session that plantstore relies on, whatever the role, the database or the server say.

import type { SQL } from 'bun'
import { OpenError } from '../../errors'
import { sendAll } from './statements'
import type { PostgresTarget } from './url'

const OLDEST_VERSION = 150_000
const TRANSACTION_TIMEOUT_SINCE = 170_000

// What is promised depends on these: the value that is set, and others that will do. A statement that is cancelled while it
// waits for the standby would count as committed.
const REQUIRED: Readonly<Record<string, readonly [string, ...string[]]>> = {
  synchronous_commit: ['on', 'remote_apply'],
  statement_timeout: ['0'],
  default_transaction_isolation: ['read committed'],
}

// Every wait has a deadline here; an export, or the making of an index, may take as long as it takes.
const UNLIMITED = {
  lock_timeout: '0',
  idle_in_transaction_session_timeout: '0',
  idle_session_timeout: '0',
}

// A row that another process has locked is waited for, but not for ever; and one that hangs in a transaction is put out.
const LOCK_MS = 3000
const IDLE_MS = 2000

/** What a session is started with: that wins over the role and the database. A pooler in transaction mode has no sessions. */
export const startupOf = ({ prepare, searchPath }: PostgresTarget): Record<string, string> => ({
  application_name: 'plantstore',
  ...(prepare
    ? {
        ...Object.fromEntries(Object.entries(REQUIRED).map(([name, [value]]) => [name, value])),
        ...UNLIMITED,
        'plantstore.session': 'own',
        ...(searchPath === null ? {} : { search_path: searchPath }),
      }
    : {}),
})

type Settings = {
  readonly version: number
  readonly encoding: string
  readonly fsync: string
  readonly path: string
  readonly session: string | null
  readonly read_only: string
  readonly required: readonly string[]
}

const SETTINGS = `
  SELECT current_setting('server_version_num')::int AS version,
    current_setting('server_encoding') AS encoding,
    current_setting('fsync') AS fsync,
    current_setting('search_path') AS path,
    current_setting('plantstore.session', true) AS session,
    current_setting('transaction_read_only') AS read_only,
    ARRAY[${Object.keys(REQUIRED).map((name) => `current_setting('${name}')`)}] AS required`

/** Throws an `OpenError` where a server would not keep what it confirms, or is not to be written to. */
export async function checkSettings(
  sql: SQL,
  { prepare, searchPath }: PostgresTarget,
): Promise<void> {
  // Not prepared, as a pooler may be between.
  const [it]: Settings[] = await sql.unsafe<Settings[]>(SETTINGS).simple()
  if (!it) throw new OpenError('the server did not tell its settings')
  if (it.version < OLDEST_VERSION) {
    throw new OpenError(
      `PostgreSQL ${Math.floor(it.version / 10_000)} is too old; plantstore needs ${OLDEST_VERSION / 10_000} or newer`,
    )
  }
  if (it.encoding !== 'UTF8') {
    throw new OpenError(
      `the database has the encoding ${it.encoding}; create one with ENCODING 'UTF8'`,
    )
  }
  if (it.fsync !== 'on') {
    throw new OpenError('fsync is off there: a loss of power would lose data; set fsync=on')
  }
  // Its clients would be bound to prepared statements of one another.
  if (prepare && it.session !== 'own') {
    throw new OpenError('a pooler is between: add prepare=false to the URL')
  }
  if (it.read_only !== 'off') throw new OpenError('it is read-only, as a standby is')
  for (const [index, [name, values]] of Object.entries(REQUIRED).entries()) {
    const found = it.required[index] ?? ''
    if (values.includes(found)) continue
    throw new OpenError(`${name} is ${found}: run ALTER ROLE … SET ${name} = '${values[0]}'`)
  }
  if (!prepare && searchPath !== null && it.path !== searchPath) {
    throw new OpenError(
      `search_path is ${it.path}: a pooler drops that of the URL; run ALTER ROLE … SET search_path`,
    )
  }
  // Older servers refuse to start a session with it.
  if (prepare && it.version >= TRANSACTION_TIMEOUT_SINCE) {
    await sql.unsafe('SET transaction_timeout = 0')
  }
}

/** Limits what a transaction of a session waits for, but never the wait for a standby. */
export async function limitWaits(sql: SQL): Promise<void> {
  await sendAll(sql, [
    [`SET lock_timeout = ${LOCK_MS}`],
    [`SET idle_in_transaction_session_timeout = ${IDLE_MS}`],
  ])
}
