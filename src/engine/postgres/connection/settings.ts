// The session settings that plantstore relies on. They override those of the role, the database and the server.

import type { SQL } from 'bun'
import { OpenError } from '../../../errors'
import { sqlStateOf } from './errors'
import { sendAll } from './statements'
import { alterRole, identifiersIn, type PostgresTarget } from './url'

const OLDEST_VERSION = 150_000
const TRANSACTION_TIMEOUT_SINCE = 170_000

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
}

// plantstore has its own deadlines; an export or an index may take any time.
const UNLIMITED = {
  lock_timeout: '0',
  idle_in_transaction_session_timeout: '0',
  idle_session_timeout: '0',
}

// Ends a session whose client's machine is gone, and unlocks its rows: no other timeout runs while the server sends.
const TCP_LIMITS = { tcp_user_timeout: '5000' }

// A session keeps its plans: one for a small table would still scan it all after it has grown. Servers before 18
// consider plans without sequential scans expensive enough to compile each time.
const PLANS = { enable_seqscan: 'off', jit: 'off' }

/** Maximum wait of a write for the lock of a row or table. */
export const LOCK_MS = 3000
// Time limit for a session idle in a transaction.
const IDLE_MS = 2000
// Time limit of a read on the server, including waits for locks.
const READ_MS = 4000

/**
 * The settings in milliseconds that the role must have through a pooler, which drops those of a session. 0: none; else
 * at most this, and not 0: a session whose client is gone would keep rows locked.
 */
export const ROLE_LIMITS: Readonly<Record<string, number>> = {
  lock_timeout: LOCK_MS,
  idle_in_transaction_session_timeout: IDLE_MS,
  tcp_user_timeout: Number(TCP_LIMITS.tcp_user_timeout),
  idle_session_timeout: 0,
  transaction_timeout: 0,
}

// A setting with several accepted values is set once its present value is known.
const STARTUP_SETTINGS = Object.entries(REQUIRED).flatMap(([name, [value, ...others]]) =>
  others.length === 0 ? [[name, value] as const] : [],
)

/** Settings sent at the start of a session. They override those of the role and the database; a pooler drops them. */
export const startupOf = (target: PostgresTarget): Record<string, string> => ({
  application_name: target.applicationName,
  ...(target.options === null ? {} : { options: target.options }),
  ...(target.prepare
    ? {
        ...Object.fromEntries(STARTUP_SETTINGS),
        ...UNLIMITED,
        ...PLANS,
        ...TCP_LIMITS,
        ...target.tcp,
        'plantstore.session': 'own',
        // Rows that a policy would hide are an error, as they are for pg_dump.
        row_security: 'off',
        ...(target.searchPath === null ? {} : { search_path: target.searchPath }),
      }
    : {}),
})

const CHECKED_SETTINGS = [
  'server_version_num',
  'server_encoding',
  'fsync',
  'search_path',
  'plantstore.session',
  'transaction_read_only',
  ...Object.keys(REQUIRED),
]
// The role to alter: a pooler may have another user than the URL, and settings in a database win over the role's others.
const ROLE = `'"' || replace(session_user, '"', '""') || '"' || coalesce((
    SELECT ' IN DATABASE ' || quote_ident(datname)
    FROM pg_db_role_setting JOIN pg_database ON pg_database.oid = setdatabase
    WHERE datname = current_database() AND setrole = to_regrole(quote_ident(session_user))), '')`
const SETTINGS = `SELECT ${ROLE} AS role,
  ${CHECKED_SETTINGS.map((name) => `current_setting('${name}', true) AS "${name}"`)}`

const STATEMENT_POOLING =
  'the pooler is in statement mode, which breaks transactions; set pool_mode = transaction'

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

/** Reads the settings, and the history if the server shows it to this user. */
async function readSettings(sql: SQL): Promise<Settings> {
  // Not prepared, as there may be a pooler.
  const ask = (query: string) => sql.unsafe<Settings[]>(query).simple()
  const rows = await ask(SETTINGS + HISTORY).catch((error) => {
    if (sqlStateOf(error) === '') throw error
    return ask(SETTINGS)
  })
  return rows[0] ?? {}
}

const standingOf = ({ transaction_read_only, cluster, started, timeline }: Settings): Standing => ({
  isWritable: transaction_read_only === 'off',
  server: cluster && started ? `${cluster} ${started}` : '',
  cluster: cluster ?? '',
  timeline: Number(timeline ?? 0),
})

/** A setting that must have another value. */
type WrongSetting = { readonly name: string; readonly actual: string; readonly value: string }

const wrongSettings = (settings: Settings): WrongSetting[] =>
  Object.entries(REQUIRED).flatMap(([name, values]) => {
    const actual = settings[name] ?? ''
    return values.includes(actual) ? [] : [{ name, actual, value: values[0] }]
  })

// A server does not show tcp_user_timeout on a unix socket, where it has none.
const LIMITS = `SELECT name, setting, current_setting(name) AS actual FROM pg_settings
  WHERE name IN (${Object.keys(ROLE_LIMITS).map((name) => `'${name}'`)})
    AND (name <> 'tcp_user_timeout' OR inet_client_addr() IS NOT NULL) ORDER BY name`

async function wrongLimits(sql: SQL): Promise<WrongSetting[]> {
  const rows: { name: string; setting: string; actual: string }[] = await sql
    .unsafe(LIMITS)
    .simple()
  return rows.flatMap(({ name, setting, actual }) => {
    const [limit = 0, milliseconds] = [ROLE_LIMITS[name], Number(setting)]
    if (milliseconds <= limit && (milliseconds > 0 || limit === 0)) return []
    return [{ name, actual, value: limit === 0 ? '0' : `${limit / 1000}s` }]
  })
}

// The sessions that a pooler has open keep their settings.
const RUN_FOR_POOLER = 'before a RECONNECT of the pooler, run'

function refuseSettings(
  wrongValues: readonly WrongSetting[],
  { role }: Settings,
  run = 'run',
): void {
  if (wrongValues.length === 0) return
  const descriptions = wrongValues.map((setting) => `${setting.name} is ${setting.actual}`)
  const roles = wrongValues.map(({ name, value }) => alterRole(role ?? '', name, value))
  throw new OpenError(`${descriptions.join(', ')}: ${run} ${roles.join('; ')}`)
}

/** A pooler drops the `search_path` of the URL: another schema would be read. */
function wrongPath({ search_path }: Settings, searchPath: string | null): WrongSetting[] {
  const [actual, value] = [search_path ?? '', searchPath ?? search_path ?? '']
  if (Bun.deepEquals(identifiersIn(actual), identifiersIn(value))) return []
  const reason = `${actual}, because a pooler drops the one in the URL`
  return [{ name: 'search_path', actual: reason, value }]
}

/** Through a pooler, a transaction of two statements must keep to one session. */
async function refuseStatementPooling(sql: SQL): Promise<void> {
  const answers = []
  for (const text of [
    'BEGIN',
    `SET LOCAL plantstore.transaction = 'own'`,
    `SELECT current_setting('plantstore.transaction', true) AS transaction`,
    'COMMIT',
  ]) {
    try {
      answers.push(await sql.unsafe<Settings[]>(text).simple())
    } catch (error) {
      if (sqlStateOf(error) !== '08P01') throw error
      throw new OpenError(STATEMENT_POOLING)
    }
  }
  if (answers[2]?.[0]?.transaction !== 'own') throw new OpenError(STATEMENT_POOLING)
}

function checkServer(settings: Settings, prepare: boolean): void {
  const version = Number(settings.server_version_num)
  if (version < OLDEST_VERSION) {
    throw new OpenError(
      `PostgreSQL ${Math.floor(version / 10_000)} is too old; plantstore needs ${OLDEST_VERSION / 10_000} or newer`,
    )
  }
  if (settings.server_encoding !== 'UTF8') {
    throw new OpenError(
      `the encoding of the database is ${settings.server_encoding}; create one with ENCODING 'UTF8'`,
    )
  }
  if (settings.fsync !== 'on') {
    throw new OpenError('fsync is off: a power loss would lose data; set fsync=on')
  }
  // A pooler's clients would execute one another's prepared statements.
  if (prepare && settings['plantstore.session'] !== 'own') {
    throw new OpenError('connected through a pooler: add prepare=false to the URL')
  }
}

/**
 * Sets what cannot be sent at the start: `synchronous_commit`, which is kept if stronger, and from then on ignores the
 * server's configuration; and `transaction_timeout`, which older servers reject.
 */
async function setRemaining(sql: SQL, settings: Settings): Promise<Settings> {
  const synchronous_commit = settings.synchronous_commit === 'remote_apply' ? 'remote_apply' : 'on'
  const isKnown = Number(settings.server_version_num) >= TRANSACTION_TIMEOUT_SINCE
  const timeout = isKnown ? '; SET transaction_timeout = 0' : ''
  await sql.unsafe(`SET synchronous_commit = ${synchronous_commit}${timeout}`).simple()
  return { ...settings, synchronous_commit }
}

/** Throws an `OpenError` if the server may lose what it confirms. A standby is not checked for that. */
export async function checkSettings(sql: SQL, target: PostgresTarget): Promise<Standing> {
  const { prepare } = target
  const settings = await readSettings(sql)
  checkServer(settings, prepare)
  if (!prepare) {
    await refuseStatementPooling(sql)
  }
  const standing = standingOf(settings)
  const paths = prepare ? [] : wrongPath(settings, target.searchPath)
  if (!standing.isWritable) refuseSettings(paths, settings, RUN_FOR_POOLER)
  else if (prepare) refuseSettings(wrongSettings(await setRemaining(sql, settings)), settings)
  else {
    const limits = await wrongLimits(sql)
    refuseSettings([...wrongSettings(settings), ...limits, ...paths], settings, RUN_FOR_POOLER)
  }
  return standing
}

/** Limits how long the transactions of a writing session wait, except for a standby. Each statement is planned once. */
export async function limitWrites(sql: SQL): Promise<void> {
  await sendAll(sql, [
    ['SET plan_cache_mode = force_generic_plan'],
    [`SET lock_timeout = ${LOCK_MS}`],
    [`SET idle_in_transaction_session_timeout = ${IDLE_MS}`],
  ])
}

/** Limits the statements of a session that only reads. */
export async function limitReads(sql: SQL): Promise<void> {
  await sendAll(sql, [[`SET statement_timeout = ${READ_MS}`]])
}
