// The reading connections of a daemon.

import type { SQL } from 'bun'
import { clientGone, OpenError, RequestError } from '../../../errors'
import { MAX_WAITING_READS, TOO_MANY_READS } from '../../page'
import type { Ask, Connection } from './connection'
import { type ChooseHost, connect } from './hosts'
import { limitReads } from './settings'
import type { PostgresTarget } from './url'

/** Longer than the server's time limit for a read: a connection silent for this long is lost. */
export const READER_SILENT_MS = 4500

type Readers = {
  /** Reads plants by their ids: short queries. */
  readonly points: Connection
  /** Reads pages of plants. */
  readonly pages: Connection
  /** Reads tokens, which must not wait for plants. */
  readonly tokens: Connection
}

/** Connections to one host, used and lost together. A command has one for everything. */
export type Connections = Readers & { readonly writer: Connection }

/** The preparation of new connections. */
export type ConnectionPolicy = {
  readonly choose: ChooseHost
  /** Called with each new writing connection, and to renew it. */
  prepare(writer: Connection): Promise<void>
  /** Resolves to false if a server lacks writes that were acknowledged by this process. */
  hasAll(connection: Connection): Promise<boolean>
}

export const closeAll = (connections: readonly Connection[]): Promise<unknown> =>
  Promise.all(connections.map((connection) => connection.close().catch(() => {})))

const TWO_SERVERS =
  'its address resolves to two servers, and one lacks writes made to the other; list each host in the URL'

/** Opens the readers, to the writer's server. If one fails, none is left open. */
export async function openReaders(
  target: PostgresTarget,
  policy: ConnectionPolicy,
  stopSignal: AbortSignal,
): Promise<Readers> {
  const readers: Connection[] = []
  const open = async () => {
    const reader = await connect(target, policy.choose, stopSignal)
    readers.push(reader)
    if (target.prepare) await reader.within(READER_SILENT_MS, limitReads(reader.sql))
    if (!(await policy.hasAll(reader))) throw new OpenError(TWO_SERVERS)
    return reader
  }
  const [points, pages, tokens] = await Promise.allSettled([open(), open(), open()])
  if (
    points.status === 'fulfilled' &&
    pages.status === 'fulfilled' &&
    tokens.status === 'fulfilled'
  )
    return { points: points.value, pages: pages.value, tokens: tokens.value }
  closeAll(readers)
  throw [points, pages, tokens].find((answer) => answer.status === 'rejected')?.reason
}

/**
 * Limits the waiting reads of a connection: beyond {@link MAX_WAITING_READS} they reject with `busy`, and so does one
 * whose signal is aborted. A query that was sent still counts until it is answered.
 */
export function limitWaiting(ask: Ask) {
  let waiting = 0
  return async <T>(query: (sql: SQL) => PromiseLike<T>, signal?: AbortSignal): Promise<T> => {
    if (waiting === MAX_WAITING_READS) throw new RequestError('busy', TOO_MANY_READS)
    waiting += 1
    const gone = Promise.withResolvers<never>()
    const leave = () => gone.reject(clientGone())
    signal?.addEventListener('abort', leave)
    const answer = ask((sql) => {
      if (signal?.aborted) throw clientGone()
      return query(sql)
    }).finally(() => {
      waiting -= 1
      signal?.removeEventListener('abort', leave)
    })
    return Promise.race([answer, gone.promise])
  }
}
