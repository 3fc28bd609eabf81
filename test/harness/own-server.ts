// Tests of each version of PostgreSQL, with a private server for all tests of a file.
import { afterAll, test as bunTest, describe } from 'bun:test'
import { existsSync } from 'node:fs'
import { join } from 'node:path'
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

type Options = {
  /** Options of the server, once tests begin. */
  readonly server?: () => ServerOptions
  readonly canRun?: boolean
  /** True for tests that do not depend on the version: only the newest runs. */
  readonly isNewest?: boolean
  /** A program of PostgreSQL that not every installation has. */
  readonly needs?: string
}

type Tested = {
  readonly installation: Installation
  readonly startServer: () => Promise<TestedServer>
}
export type TestedServer = PostgresServer & { readonly installation: Installation }
type Row = readonly unknown[]
/** A test, with the server of its version. */
type Body<T extends Row> = (server: TestedServer, ...row: [...T]) => Promise<void>

/** All versions, or the one that TESTED_POSTGRES names, such as 18. */
function chosenInstallations(): readonly Installation[] {
  const version = Bun.env.TESTED_POSTGRES
  if (!version) return INSTALLATIONS
  const chosen = INSTALLATIONS.filter(({ name }) => name === `PostgreSQL ${version}`)
  if (chosen.length === 0) throw new Error(`TESTED_POSTGRES names an unknown version: ${version}`)
  return chosen
}

/** Returns a function that groups tests by version; %s in the subject is its name. Skips what is not installed. */
export function onVersions(subject: string, options: Options = {}) {
  const { server = () => ({}), canRun = true, isNewest = false, needs = 'postgres' } = options
  const newest = INSTALLATIONS.findLast(isInstalled) ?? INSTALLATIONS[0]
  const versions = isNewest && newest ? [newest] : chosenInstallations()
  const rows = versions.map((installation) => {
    const start = ownServer(installation, server)
    const startServer = async () => Object.assign(await start(), { installation })
    return [installation.name, { installation, startServer }] as const
  })
  return (title: string, add: (tested: Tested) => void): void =>
    describe.each(rows)(subject, (_, tested) => {
      if (canRun && existsSync(join(tested.installation.bin, needs))) add(tested)
      else bunTest.skip(title, () => {})
    })
}

/** Returns a function that adds a test for each version, whose servers the test starts itself. */
export function onInstallations(subject: string, options: Options = {}) {
  const group = onVersions(subject, options)
  return (title: string, body: (installation: Installation) => Promise<void>): void =>
    group(title, ({ installation }) => bunTest(title, () => body(installation)))
}

/** Returns a function that adds a test for each version, and others that add one for each row of a table. */
export function onServers(subject: string, options: Options = {}) {
  const group = onVersions(subject, options)
  const eachBy =
    (add: Pick<typeof bunTest, 'each'>) =>
    <const T extends Row>(rows: readonly T[]) =>
    (title: string, body: Body<T>): void =>
      group(title, ({ startServer }) =>
        add.each(rows as T[])(title, async (...row) =>
          body(await startServer(), ...(row as unknown as T)),
        ),
      )
  return Object.assign(
    (title: string, body: Body<[]>): void =>
      group(title, ({ startServer }) => bunTest(title, async () => body(await startServer()))),
    { each: eachBy(bunTest), concurrentEach: eachBy(bunTest.concurrent) },
  )
}
