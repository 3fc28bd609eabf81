// A PostgreSQL server with its defaults, and what the benchmarks ask of it.
import { join } from 'node:path'
import {
  INSTALLATIONS,
  type Installation,
  isInstalled,
  PASSWORD,
  startPostgres,
} from '../../tools/postgres/server.ts'
import { cpuOfChildren } from './cpu.ts'
import { project } from './plantstore.ts'
import { type Command, run } from './processes.ts'

export type Postgres = {
  readonly version: string
  readonly pid: number
  readonly port: number
  /** The URL of a database, by TCP on loopback. */
  readonly url: (database: string, port?: number) => string
  /** The rows of a statement. */
  readonly query: (statement: string, database?: string) => Promise<Record<string, string>[]>
  /** CPU seconds of its connections that have ended. */
  readonly cpu: () => number
  /** psql with these arguments; it ends at the first error. */
  readonly psql: (args: readonly string[]) => Command
  readonly stop: () => Promise<void>
}

/** The programs of PostgreSQL in a folder, or the newest that are found. Ends the command if there are none. */
export async function findPostgres(folder: string): Promise<Installation> {
  await run({ argv: [process.execPath, 'tools/postgres/install.ts'], cwd: project })
  const found = INSTALLATIONS.filter(isInstalled).at(-1)
  if (folder) return { name: 'PostgreSQL', bin: folder }
  if (found) return found
  console.error('PostgreSQL is missing; install it (Debian: apt-get install postgresql)')
  process.exit(1)
}

/** Starts a server: `fsync` and `synchronous_commit` are on. `wrapped` changes how it is started. */
export async function startServer(
  installation: Installation,
  wrapped: (command: Command) => Command = (command) => command,
): Promise<Postgres> {
  const server = await startPostgres(installation, {
    wrap: (argv) => wrapped({ argv: [...argv] }).argv,
  })
  const [shown] = await server.query('SHOW server_version')
  const pid = server.pid()
  return {
    version: `PostgreSQL ${shown?.server_version?.split(' ')[0]}`,
    pid,
    port: server.port,
    url: (database, port) => server.url(database, '127.0.0.1', port),
    query: server.query,
    cpu: () => cpuOfChildren(pid),
    psql: (args) => ({
      argv: [
        join(installation.bin, 'psql'),
        ...['-h', server.socket, '-p', String(server.port), '-U', 'admin', '-d', 'postgres'],
        ...['-X', '-q', '-t', '-A', '-v', 'ON_ERROR_STOP=1', ...args],
      ],
      env: { PGPASSWORD: PASSWORD },
    }),
    stop: () => server[Symbol.asyncDispose](),
  }
}
