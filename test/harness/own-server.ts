// Groups of tests for each version of PostgreSQL, with a private server.
import { afterAll, describe, test } from 'bun:test'
import {
  INSTALLATIONS,
  type Installation,
  isInstalled,
  type PostgresServer,
  type ServerOptions,
  startPostgres,
} from '../../tools/postgres/server'

/** Returns a function that starts the server on its first call. The server ends after the last test. */
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

type Tests = (startServer: () => Promise<PostgresServer>, installation: Installation) => void
type Options = ServerOptions & { readonly canRun?: boolean }

function describeOn(
  servers: readonly Installation[],
  title: string,
  tests: Tests,
  { canRun = true, ...options }: Options,
): void {
  const namedServers = servers.map((server) => [server.name, server] as const)
  describe.each(namedServers)(title, (_, server) => {
    if (canRun && isInstalled(server))
      tests(
        ownServer(server, () => options),
        server,
      )
    else test.skip('is not tested: it is not installed', () => {})
  })
}

/** All versions, or the one that TESTED_POSTGRES names, such as 18. */
function chosenInstallations(): readonly Installation[] {
  const version = Bun.env.TESTED_POSTGRES
  if (!version) return INSTALLATIONS
  const chosen = INSTALLATIONS.filter(({ name }) => name === `PostgreSQL ${version}`)
  if (chosen.length === 0) throw new Error(`TESTED_POSTGRES names an unknown version: ${version}`)
  return chosen
}

/**
 * Groups tests for each version of PostgreSQL, with one server for all of them; %s is its name. Skips what is not
 * installed.
 */
export const describeServers = (title: string, tests: Tests, options: Options = {}): void =>
  describeOn(chosenInstallations(), title, tests, options)

/** The same with the newest installed version, for tests that do not depend on the version. */
export const describeServer = (title: string, tests: Tests, options: Options = {}): void =>
  describeOn(
    [INSTALLATIONS.findLast(isInstalled) ?? INSTALLATIONS[0]].filter(
      (server) => server !== undefined,
    ),
    title,
    tests,
    options,
  )
