// A read-only store on a standby, or on any server of the URL that answers. It has no lane and sends no write, even after
// its standby is promoted.

import type { RequestError } from '../../request-errors'
import type { ReplicaStats, Store } from '../../store'
import { createWrites } from '../commit/plant-writes'
import { newerSchema } from '../schema-messages'
import type { StoreUser } from '../store-user'
import type { Connection } from './connection/connection'
import { chooseReadable } from './connection/hosts'
import { Primary } from './connection/primary'
import type { ConnectionPolicy } from './connection/readers'
import { ServerState } from './connection/state'
import type { PostgresTarget } from './connection/url'
import { createReads } from './reads'
import { DATABASE, requireSchema, SCHEMA_VERSION } from './schema'
import { createTokens } from './tokens'
import { watchServer } from './watch'

// A replica that lacks changes for longer is reported by /health.
const BEHIND_SECONDS = 10

// With nothing left to replay, a standby lags only if its receiver's connection was silently cut: wal_receiver_timeout
// then ends the receiver. Without privileges, the view still shows its pid.
const LOOK = `
  SELECT (SELECT version FROM plantstore_schema) AS version,
    (SELECT log IS NOT NULL FROM change_log ORDER BY last DESC LIMIT 1) AS "hasChangeLog",
    CASE WHEN NOT standby OR bytes < 0 THEN 0 ELSE bytes END AS "lagBytes",
    CASE WHEN NOT standby OR fed AND bytes = 0 THEN 0 ELSE greatest(seconds, 0) END AS "lagSeconds"
  FROM (
    SELECT pg_is_in_recovery() AS standby, EXISTS (SELECT FROM pg_stat_wal_receiver WHERE pid IS NOT NULL) AS fed,
      pg_wal_lsn_diff(pg_last_wal_receive_lsn(), pg_last_wal_replay_lsn())::float8 AS bytes,
      extract(epoch FROM clock_timestamp()
        - coalesce(pg_last_xact_replay_timestamp(), pg_postmaster_start_time()))::float8 AS seconds
  ) AS server`

/** A server says how far it lags behind. */
type Lag = ReplicaStats & { readonly lagSeconds: number }
type Look = Lag & { readonly version: number | null; readonly hasChangeLog: boolean | null }

/** Opens the database of a server to read it. Rejects with an `OpenError` if that fails. */
export async function openReplica(
  target: PostgresTarget,
  storeUser: StoreUser,
  refusal: RequestError,
): Promise<Store> {
  const refuse = async () => {
    throw refusal
  }
  const state = new ServerState(storeUser)
  let hasChangeLog = false
  let lastLag: Lag = { lagSeconds: 0, lagBytes: null }
  let seenAt = 0

  async function look({ ask }: Connection): Promise<void> {
    const [row] = await ask((sql) => sql.unsafe<Look[]>(LOOK))
    hasChangeLog = row?.hasChangeLog ?? false
    lastLag = { lagSeconds: row?.lagSeconds ?? 0, lagBytes: row?.lagBytes ?? null }
    seenAt = performance.now()
    const version = row?.version ?? 0
    state.setAlterations(
      version > SCHEMA_VERSION ? [newerSchema(DATABASE, version, SCHEMA_VERSION)] : [],
    )
  }

  const policy: ConnectionPolicy = {
    choose: chooseReadable,
    hasAll: async () => true,
    async prepare(connection) {
      await requireSchema(connection.ask, target)
      await look(connection)
    },
  }
  const server = new Primary(target, storeUser, state, policy, () => {})
  const { changeLogReader, reads } = createReads(server)
  const { forget, ...tokens } = createTokens(server.reader('tokens'), refuse)
  const { watch, methods } = createWrites(refuse, changeLogReader.read, forget)
  const changeLog = { ...changeLogReader, watch }
  const health = watchServer(server, state, look, async () => {})

  /** The lag, which grows while the server is lost. */
  function lag(): Lag {
    const elapsed = server.isLost ? (performance.now() - seenAt) / 1000 : 0
    return { ...lastLag, lagSeconds: lastLag.lagSeconds + elapsed }
  }

  await server.open()
  const endLooks = health.begin()

  return {
    ...methods,
    ...tokens,
    ...reads,
    get changeLog() {
      return hasChangeLog ? changeLog : undefined
    },
    async probe() {
      await health.probe()
      return lag().lagSeconds > BEHIND_SECONDS ? 'behind' : 'ok'
    },
    stats: () => ({
      problem: state.problem(),
      queuedWrites: 0,
      databaseBytes: null,
      walBytes: null,
      freeBytes: null,
      replica: lag(),
    }),
    async close() {
      endLooks()
      await server.close()
    },
  }
}
