// The session settings that plantstore relies on. They override those of the role, the database and the server; a pooler
// drops them, and the role must have them.

import type { SQL } from 'bun'
import { OpenError } from '../../../errors'
import { sqlStateOf, THROUGH_POOLER } from './errors'
import type { PostgresTarget } from './url'

const OLDEST_VERSION = 150_000

/** Required settings: the value to set, then other accepted values. */
export const REQUIRED: Readonly<Record<string, readonly [string, ...string[]]>> = {
  // A commit that a timeout cancels while it waits for the standby would be confirmed.
  synchronous_commit: ['on', 'remote_apply'],
  statement_timeout: ['0'],
  default_transaction_isolation: ['read committed'],
  // The meaning of texts, parameters and literals. A plant without a tag is a NULL in an array.
  client_encoding: ['UTF8'],
  array_nulls: ['on'],
  standard_conforming_strings: ['on'],
  transform_null_equals: ['off'],
  // An error, such as a plant whose id is taken, must not end the session.
  exit_on_error: ['off'],
  idle_session_timeout: ['0'],
  transaction_timeout: ['0'],
  // Rows that a policy would hide are an error, as they are for pg_dump.
  row_security: ['off'],
}

/** Maximum wait of a write for the lock of a row or table. */
export const LOCK_MS = 3000

/**
 * Time limits in milliseconds. Shorter ones are accepted, but not 0: a session whose client is gone would keep rows
 * locked. No other timeout runs while the server sends.
 */
export const LIMITS: Readonly<Record<string, number>> = {
  lock_timeout: LOCK_MS,
  idle_in_transaction_session_timeout: 2000,
  tcp_user_timeout: 5000,
}

// A session keeps its plans: one for a small table would still scan it all after it has grown. Servers before 18
// consider plans without sequential scans expensive enough to compile each time.
const PLANS = { enable_seqscan: 'off', jit: 'off' }

/** For sessions that write: each statement of a commit is planned once. */
export const WRITER_SETTINGS = { plan_cache_mode: 'force_generic_plan' }
/** For sessions that read: limits each statement, including waits for locks. */
export const READER_SETTINGS = { statement_timeout: '4000' }

/** The same target, with more settings of its sessions. */
export const withSettings = (
  target: PostgresTarget,
  settings: Readonly<Record<string, string>>,
): PostgresTarget =>
  target.prepare ? { ...target, startup: { ...target.startup, ...settings } } : target

// Older servers reject transaction_timeout; synchronous_commit is kept if it is stronger.
const SET_LATER = ['synchronous_commit', 'transaction_timeout']

const FIRST_SETTINGS = Object.entries(REQUIRED).flatMap(([name, [value]]) =>
  SET_LATER.includes(name) ? [] : [[name, value]],
)

/** Settings sent at the start of a session. They override those of the role and the database; a pooler drops them. */
export const startupOf = ({ prepare, startup }: PostgresTarget): Record<string, string> =>
  prepare
    ? {
        ...Object.fromEntries(FIRST_SETTINGS),
        ...Object.fromEntries(Object.entries(LIMITS).map(([name, ms]) => [name, String(ms)])),
        ...PLANS,
        ...startup,
        'plantstore.session': 'own',
      }
    : startup

// Without fsync, a power loss would lose data.
const SERVER_SETTINGS = { server_encoding: 'UTF8', fsync: 'on' }

const CHECKED_SETTINGS = [
  ...Object.keys(SERVER_SETTINGS),
  'server_version_num',
  'plantstore.session',
  'transaction_read_only',
]
const SETTINGS = `SELECT ${CHECKED_SETTINGS.map((name) => `current_setting('${name}', true) AS "${name}"`)}`

/** The state of a server, and its place among the hosts of the URL. */
export type Standing = {
  readonly isWritable: boolean
  /** The same for two addresses of one running server; empty if the server does not show it. */
  readonly server: string
  /** The same for a primary and its standbys; empty if the server does not show it. */
  readonly cluster: string
  /** Raised by each promotion and each point-in-time recovery. */
  readonly timeline: number
}

const HISTORY = `, system_identifier::text AS cluster,
    extract(epoch FROM pg_postmaster_start_time())::text AS started,
    CASE WHEN pg_is_in_recovery() THEN greatest(checkpoint.timeline_id, min_recovery_end_timeline)
      ELSE ('x' || left(pg_walfile_name(pg_current_wal_lsn()), 8))::bit(32)::int END::text AS timeline
  FROM pg_control_system(), pg_control_checkpoint() AS checkpoint, pg_control_recovery()`

type Settings = Readonly<Record<string, string | null>>

// Not prepared, as there may be a pooler.
const ask = (sql: SQL, query: string) => sql.unsafe<Settings[]>(query).simple()

/** Reads the settings, and the history if the server shows it to this user. */
async function readSettings(sql: SQL): Promise<Settings> {
  const rows = await ask(sql, SETTINGS + HISTORY).catch((error) => {
    if (sqlStateOf(error) === '') throw error
    return ask(sql, SETTINGS)
  })
  return rows[0] ?? {}
}

const SET_REMAINING = `SELECT set_config(name,
    CASE WHEN setting = 'remote_apply' THEN setting WHEN name = 'synchronous_commit' THEN 'on' ELSE '0' END, false)
  FROM pg_settings WHERE name IN (${SET_LATER.map((name) => `'${name}'`)})`

// A server does not show tcp_user_timeout on a unix socket, where it has none.
const ROLE_SETTINGS = `SELECT name, setting FROM pg_settings
  WHERE name IN (${Object.keys({ ...REQUIRED, ...LIMITS }).map((name) => `'${name}'`)})
    AND (name <> 'tcp_user_timeout' OR inet_client_addr() IS NOT NULL) ORDER BY name`

/** Through a pooler: the role must have every setting. */
async function checkRole(sql: SQL): Promise<void> {
  const rows = await ask(sql, ROLE_SETTINGS)
  const wrong = rows.flatMap(({ name, setting }) => {
    const [values, limit = 0] = [REQUIRED[name ?? ''], LIMITS[name ?? '']]
    const isRight = values
      ? values.includes(setting ?? '')
      : Number(setting) > 0 && Number(setting) <= limit
    return isRight ? [] : [`${name} is ${setting}, not ${values?.[0] ?? `${limit / 1000}s`}`]
  })
  if (wrong.length === 0) return
  throw new OpenError(
    `${wrong.join('; ')}: give the role these settings with ALTER ROLE … SET, then RECONNECT the pooler`,
  )
}

/** Throws an `OpenError` if the server may lose what it confirms. A standby is not checked for that. */
export async function checkSettings(sql: SQL, { prepare }: PostgresTarget): Promise<Standing> {
  const settings = await readSettings(sql)
  const version = Number(settings.server_version_num)
  if (version < OLDEST_VERSION) {
    throw new OpenError(
      `PostgreSQL ${Math.floor(version / 10_000)} is too old; plantstore needs ${OLDEST_VERSION / 10_000} or newer`,
    )
  }
  for (const [name, value] of Object.entries(SERVER_SETTINGS)) {
    if (settings[name] !== value) throw new OpenError(`${name} is ${settings[name]}, not ${value}`)
  }
  // A pooler's clients would execute one another's prepared statements.
  if (prepare && settings['plantstore.session'] !== 'own') {
    throw new OpenError(THROUGH_POOLER)
  }
  const { transaction_read_only, cluster, started, timeline } = settings
  const standing = {
    isWritable: transaction_read_only === 'off',
    server: cluster && started ? `${cluster} ${started}` : '',
    cluster: cluster ?? '',
    timeline: Number(timeline ?? 0),
  }
  // A pooler in statement mode refuses a transaction.
  for (const text of prepare ? [] : ['BEGIN', 'SELECT 1', 'COMMIT']) await ask(sql, text)
  if (standing.isWritable) await (prepare ? ask(sql, SET_REMAINING) : checkRole(sql))
  return standing
}
