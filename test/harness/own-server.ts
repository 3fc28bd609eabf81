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

type Tests = (started: () => Promise<PostgresServer>, installation: Installation) => void
type Options = ServerOptions & { readonly canRun?: boolean }

function describeOn(
  servers: readonly Installation[],
  title: string,
  tests: Tests,
  { canRun = true, ...options }: Options,
): void {
  const named = servers.map((server) => [server.name, server] as const)
  describe.each(named)(title, (_, server) => {
    if (canRun && isInstalled(server))
      tests(
        ownServer(server, () => options),
        server,
      )
    else test.skip('is not tested: it is not installed', () => {})
  })
}

/**
 * Groups tests for each version of PostgreSQL, with one server for all of them; %s is its name. Skips what is not
 * installed.
 */
export const describeServers = (title: string, tests: Tests, options: Options = {}): void =>
  describeOn(installations, title, tests, options)

/** The same for the newest version that is installed: of what does not depend on the version. */
export const describeServer = (title: string, tests: Tests, options: Options = {}): void =>
  describeOn(
    [installations.findLast(isInstalled) ?? installations[0]].filter(
      (server) => server !== undefined,
    ),
    title,
    tests,
    options,
  )
