// The reading connections of a daemon.

import { OpenError } from '../../../errors'
import { type Connection, connectTo } from './connection'
import { type ChooseHost, isSameServer } from './hosts'
import { READER_SETTINGS, withSettings } from './settings'
import type { PostgresTarget } from './url'

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

export const closeAll = (connections: readonly Connection[]) =>
  Promise.all(connections.map((connection) => connection.close().catch(() => {})))

/** Opens the readers, to the writer's server. If one fails, none is left open. */
export async function openReaders(
  target: PostgresTarget,
  writer: Connection,
  { hasAll }: ConnectionPolicy,
  stopSignal: AbortSignal,
): Promise<Readers> {
  const abandon = new AbortController()
  const signal = AbortSignal.any([stopSignal, abandon.signal])
  const open = async () => {
    const reader = await connectTo(writer.host, withSettings(target, READER_SETTINGS), signal)
    if (isSameServer(reader, writer) && (await hasAll(reader))) return reader
    throw new OpenError('its address resolves to two servers; list each host in the URL')
  }
  try {
    const [points, pages, tokens] = await Promise.all([open(), open(), open()])
    return { points, pages, tokens }
  } catch (error) {
    abandon.abort()
    throw error
  }
}
