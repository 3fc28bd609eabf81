// A PostgreSQL server in a temporary folder, with its own tools, where it is installed.
import { chownSync, existsSync, mkdirSync, readdirSync } from 'node:fs'
import { join } from 'node:path'
import { SQL } from 'bun'
import { cpuOfChildren } from './cpu.ts'
import { type Command, run, start, stop, temporaryFolder } from './processes.ts'
import { freePort } from './server.ts'

const DEBIAN = '/usr/lib/postgresql'
const NOBODY = 65_534
// PostgreSQL refuses to run as root.
const isRoot = process.getuid?.() === 0
const under = isRoot ? ['setpriv', `--reuid=${NOBODY}`, `--regid=${NOBODY}`, '--clear-groups'] : []

/** The folder of the programs of the newest PostgreSQL here; undefined where there is none. */
export function findPostgres(): string | undefined {
  const versions = existsSync(DEBIAN)
    ? readdirSync(DEBIAN)
        .map(Number)
        .toSorted((a, b) => b - a)
    : []
  const folders = [...versions.map((version) => join(DEBIAN, String(version), 'bin'))]
  const onPath = Bun.which('postgres')
  if (onPath) folders.push(join(onPath, '..'))
  return folders.find((bin) => existsSync(join(bin, 'initdb')) && existsSync(join(bin, 'psql')))
}

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

/** Starts a server with its defaults: `fsync` and `synchronous_commit` are on. `wrapped` changes how it is started. */
export async function startPostgres(
  bin: string,
  wrapped: (command: Command) => Command = (command) => command,
): Promise<Postgres> {
  const folder = temporaryFolder()
  const data = join(folder, 'data')
  const sockets = join(folder, 'sockets')
  mkdirSync(sockets)
  if (isRoot) for (const path of [folder, sockets]) chownSync(path, NOBODY, NOBODY)
  const words = ['-D', data, '-U', 'bench', '-A', 'trust', '-E', 'UTF8', '--locale', 'C']
  await run({ argv: [...under, join(bin, 'initdb'), ...words], cwd: folder })
  const port = String(await freePort())
  const log = join(folder, 'log')
  const settings = ['-p', port, '-k', sockets, '-c', 'listen_addresses=127.0.0.1']
  const argv = [...under, join(bin, 'postgres'), '-D', data, ...settings]
  const child = start(wrapped({ argv, cwd: folder }), log)
  const psql = (args: readonly string[]): Command => ({
    argv: [
      join(bin, 'psql'),
      ...['-h', sockets, '-p', port, '-U', 'bench', '-d', 'postgres'],
      ...['-X', '-q', '-t', '-A', '-v', 'ON_ERROR_STOP=1', ...args],
    ],
  })
  const url = (database: string, at = Number(port)) =>
    `postgres://bench@127.0.0.1:${at}/${database}`
  async function query(statement: string, database = 'postgres') {
    const sql = new SQL({ url: url(database), tls: 'disable', max: 1 })
    try {
      return await sql.unsafe<Record<string, string>[]>(statement).simple()
    } finally {
      await sql.close({ timeout: 0 })
    }
  }
  const deadline = performance.now() + 30_000
  for (;;) {
    try {
      const [shown] = await query('SHOW server_version')
      return {
        version: `PostgreSQL ${shown?.server_version?.split(' ')[0]}`,
        pid: child.pid,
        port: Number(port),
        cpu: () => cpuOfChildren(child.pid),
        psql,
        url,
        query,
        stop: () => stop(child, child.pid),
      }
    } catch (error) {
      if (child.exitCode !== null || performance.now() > deadline) throw error
      await Bun.sleep(50)
    }
  }
}
