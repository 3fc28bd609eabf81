// Tests of each version of PostgreSQL, with a server of their own.
import { afterAll, describe, test } from 'bun:test'
import {
  type Installation,
  installations,
  isInstalled,
  type PostgresServer,
  type ServerOptions,
  startPostgres,
} from '../../tools/postgres/server'

/** Returns what starts the server, once, for the first test that asks; after the last one it is gone. */
export function ownServer(
  installation: Installation,
  options: () => ServerOptions = () => ({}),
): () => Promise<PostgresServer> {
  let starting: Promise<PostgresServer> | null = null
  afterAll(async () => (await starting)?.[Symbol.asyncDispose]())
  return () => {
    starting ??= startPostgres(installation, options())
    return starting
  }
}

/**
 * Groups tests for each version of PostgreSQL, with one server for all of them; %s is its name. Skips what is not
 * installed.
 */
export function describeServers(
  title: string,
  tests: (started: () => Promise<PostgresServer>, installation: Installation) => void,
  { canRun = true, ...options }: ServerOptions & { readonly canRun?: boolean } = {},
): void {
  describe.each(installations.map((installation) => [installation.name, installation] as const))(
    title,
    (_, installation) => {
      if (canRun && isInstalled(installation))
        tests(
          ownServer(installation, () => options),
          installation,
        )
      else test.skip('is not tested: it is not installed', () => {})
    },
  )
}
