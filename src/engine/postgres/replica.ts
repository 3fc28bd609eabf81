// A read-only store on a standby, or on any server of the URL that answers. It has no lane and sends no write, even after
// its standby is promoted.

import { RequestError } from '../../errors'
import type { ReplicaStats, Store } from '../../store'
import { createWrites } from '../commit/plant-writes'
import type { StoreUser } from '../store-user'
import type { Ask, Connection } from './connection/connection'
import { chooseReadable } from './connection/hosts'
import { Primary } from './connection/primary'
import { type ConnectionPolicy, type Connections, READER_SILENT_MS } from './connection/readers'
import { ServerState } from './connection/state'
import type { PostgresTarget } from './connection/url'
import { createReads } from './reads'
import { newerSchema, SCHEMA_VERSION } from './schema'
import { requireSchema } from './sql/snapshot'
import { createTokens } from './tokens'
import { readNothing, watchServer } from './watch'

// A replica that lacks changes for longer is reported by /health.
const BEHIND_SECONDS = 10

// With nothing left to replay, a standby lags only if its receiver's connection was silently cut: wal_receiver_timeout
// then ends the receiver. Without privileges, the view still shows its pid.
const LOOK = `
  SELECT pg_is_in_recovery() AS "isStandby", (SELECT version FROM plantstore_schema) AS version,
    (SELECT log IS NOT NULL FROM change_log ORDER BY last DESC LIMIT 1) AS "hasChangeLog",
    EXISTS (SELECT FROM pg_stat_wal_receiver WHERE pid IS NOT NULL) AS "isFed",
    pg_wal_lsn_diff(pg_last_wal_receive_lsn(), pg_last_wal_replay_lsn())::float8 AS bytes,
    extract(epoch FROM clock_timestamp()
      - coalesce(pg_last_xact_replay_timestamp(), pg_postmaster_start_time()))::float8 AS seconds`

type Look = {
  readonly isStandby: boolean
  readonly version: number | null
  readonly hasChangeLog: boolean | null
  readonly isFed: boolean
  readonly bytes: number | null
  readonly seconds: number
}

/** A server says how far it lags behind. */
type Lag = ReplicaStats & { readonly lagSeconds: number }

/** The lag of a server, from a look at it. */
export function lagOf({
  isStandby,
  isFed,
  bytes,
  seconds,
}: Omit<Look, 'version' | 'hasChangeLog'>): Lag {
  if (!isStandby || (isFed && bytes === 0)) return { lagSeconds: 0, lagBytes: 0 }
  return { lagSeconds: Math.max(0, seconds), lagBytes: bytes && Math.max(0, bytes) }
}

/** The server of a reading process: prepares connections, and measures the lag. */
class Replica implements ConnectionPolicy {
  readonly choose = chooseReadable
  hasChangeLog = false
  #lag: Lag = { lagSeconds: 0, lagBytes: null }
  #seenAt = 0

  constructor(
    private readonly target: PostgresTarget,
    private readonly state: ServerState,
  ) {}

  async prepare(connection: Connection): Promise<void> {
    const ask: Ask = (query) => connection.within(READER_SILENT_MS, query(connection.sql))
    await requireSchema(ask, this.target)
    await this.look(connection)
  }

  hasAll = async (): Promise<boolean> => true

  async look({ sql, within }: Connection): Promise<void> {
    const [row] = await within(READER_SILENT_MS, sql.unsafe<Look[]>(LOOK))
    if (!row) return
    this.hasChangeLog = row.hasChangeLog ?? false
    this.#lag = lagOf(row)
    this.#seenAt = performance.now()
    const version = row.version ?? 0
    this.state.setAlterations(version > SCHEMA_VERSION ? [newerSchema(version)] : [])
  }

  /** The lag, which grows while the server is lost. */
  lag(isLost: boolean): Lag {
    const { lagSeconds, lagBytes } = this.#lag
    if (!isLost) return this.#lag
    const elapsed = (performance.now() - this.#seenAt) / 1000
    return { lagSeconds: lagSeconds + elapsed, lagBytes }
  }
}

/** Opens the database of a server to read it. Rejects with an `OpenError` if that fails. */
export async function openReplica(
  target: PostgresTarget,
  storeUser: StoreUser,
  refusal: RequestError,
): Promise<Store> {
  const refuse = async () => {
    throw refusal
  }
  const state = new ServerState(storeUser.log)
  const replica = new Replica(target, state)
  const server = new Primary(target, storeUser, state, replica, () => {})
  const { changeLogReader, reads } = createReads(server)
  const { forget, ...tokens } = createTokens(server.reader('tokens'), refuse)
  const { watch, methods } = createWrites(refuse, changeLogReader.read, forget)
  const changeLog = { ...changeLogReader, watch }
  const look = (connections: Connections) => [
    ...readNothing(connections),
    replica.look(connections.pages),
  ]
  const health = watchServer(server, state, look, async () => {})
  const lag = () => replica.lag(server.isLost)

  function problem(): RequestError | null {
    const reason = state.problem()
    return reason && new RequestError('storage failed', reason.message)
  }

  await server.open()
  const endLooks = health.begin()

  return {
    ...methods,
    ...tokens,
    ...reads,
    get changeLog() {
      return replica.hasChangeLog ? changeLog : undefined
    },
    async probe() {
      await health.probe()
      const reason = problem()
      if (reason) throw reason
      return lag().lagSeconds > BEHIND_SECONDS ? 'behind' : 'ok'
    },
    stats: () => ({
      problem: problem(),
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
