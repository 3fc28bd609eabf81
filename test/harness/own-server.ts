// One PostgreSQL server for all tests of a group.
import { afterAll } from 'bun:test'
import {
  type Installation,
  type PostgresServer,
  type ServerOptions,
  startPostgres,
} from '../../tools/postgres/server'

/** Returns what starts the server, once, for the first test that asks; after the last one it is gone. */
export function ownServer(
  installation: Installation,
  options: ServerOptions = {},
): () => Promise<PostgresServer> {
  let starting: Promise<PostgresServer> | null = null
  afterAll(async () => (await starting)?.[Symbol.asyncDispose]())
  return () => {
    starting ??= startPostgres(installation, options)
    return starting
  }
}
