// PostgreSQL servers that faults are injected into, and daemons before them.
import { existsSync, readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import {
  INSTALLATIONS,
  type Installation,
  isInstalled,
  PASSWORD,
  type PostgresServer,
  type ServerOptions,
  startPostgres,
} from '../../../tools/postgres/server.ts'
import { root } from '../../harness/daemon.ts'
import type { StoredPlant } from '../../harness/plants.ts'
import type { Process } from '../../harness/process.ts'
import { type Daemon, launch, type Start, serve } from './daemon.ts'
import { comesTrue, type Report, Skipped } from './fault.ts'
import { after, sh } from './lab.ts'
import type { Ledger } from './load.ts'
import { faultsOf, judge } from './verify.ts'

export type Server = PostgresServer & {
  installation: Installation
  /** Stops all its processes between two instructions; returns a function that resumes them. */
  freeze: () => () => void
  /** kill -9 of all its processes. */
  killAll: () => Promise<void>
}

/** The parent of a process, and whether it has ended; null: there is none. */
function statusOf(pid: number): { parent: number; ended: boolean } | null {
  try {
    const [state, parent] =
      readFileSync(`/proc/${pid}/stat`, 'utf8').split(') ').at(-1)?.split(' ') ?? []
    return { parent: Number(parent), ended: state === 'Z' || state === 'X' }
  } catch {
    return null
  }
}

const isRunning = (pid: number): boolean => statusOf(pid)?.ended === false

/** The processes of a server: its first one, and the children of that. */
export function processesOf(pid: number): number[] {
  const children = readdirSync('/proc')
    .map(Number)
    .filter((it) => it > 0 && statusOf(it)?.parent === pid)
  return [pid, ...children].filter(isRunning)
}

/** Signals processes that may have ended. */
export function signalAll(pids: readonly number[], signal: NodeJS.Signals): void {
  for (const pid of pids) {
    try {
      process.kill(pid, signal)
    } catch {
      // It has ended.
    }
  }
}

/**
 * Ends a server at once, and waits until all of its processes are gone. The first one is stopped before its children
 * are looked up: one that it forks meanwhile would live on, and answer from memory that the next server does not share.
 */
async function killServer(pid: number): Promise<void> {
  signalAll([pid], 'SIGSTOP')
  const pids = processesOf(pid)
  signalAll(pids, 'SIGKILL')
  if (!(await comesTrue(5000, () => !pids.some(isRunning)))) throw new Error('it outlives kill -9')
}

let installing: Promise<string> | undefined

/** A version that is installed, the one of that place if it can be had. */
export async function installationAt(place: number): Promise<Installation> {
  if (process.platform !== 'linux') throw new Skipped('needs Linux')
  if (!INSTALLATIONS.every(isInstalled)) {
    installing ??= sh(process.execPath, join(root, 'tools/postgres/install.ts'))
    await installing
  }
  const installed = INSTALLATIONS.filter(isInstalled)
  const chosen = installed[place] ?? installed[0]
  if (!chosen) throw new Skipped('needs PostgreSQL')
  return chosen
}

/** Starts a server, by default of the oldest version; at the end of the fault it is killed. */
export async function startServer(options: ServerOptions = {}, version = 0): Promise<Server> {
  const installation = await installationAt(version)
  const server = await startPostgres(installation, options)
  const all = () => processesOf(server.pid())
  after(async () => {
    await killServer(server.pid())
    await server[Symbol.asyncDispose]()
  })
  return Object.assign(server, {
    installation,
    freeze() {
      const pids = all()
      signalAll(pids, 'SIGSTOP')
      return () => signalAll(pids, 'SIGCONT')
    },
    killAll: () => killServer(server.pid()),
  })
}

/** Starts a standby of a server, and waits until it streams. `synchronous`: no commit is confirmed without it. */
export async function startStandby(primary: Server, isSynchronous: boolean): Promise<Server> {
  const version = INSTALLATIONS.indexOf(primary.installation)
  if (!existsSync(join(primary.installation.bin, 'pg_basebackup'))) {
    throw new Skipped(`${primary.installation.name} is without pg_basebackup`)
  }
  const standby = await startServer({ standbyOf: primary }, version)
  if (isSynchronous) {
    await primary.query("ALTER SYSTEM SET synchronous_standby_names = 'standby'")
    await primary.query('SELECT pg_reload_conf()')
  }
  const wanted = isSynchronous ? 'sync' : 'async'
  const isThere = await comesTrue(15_000, async () => {
    const [row] = await primary.query('SELECT sync_state AS state FROM pg_stat_replication')
    return row?.state === wanted
  })
  if (!isThere) throw new Error('the standby does not follow')
  return standby
}

/** The only server goes away, and its standby becomes the server. */
export async function failOver(primary: Server, standby: Server): Promise<void> {
  await primary.killAll()
  await standby.query('SELECT pg_promote()')
}

export const DATABASE = 'plants'

/** The URL of a database on servers, without a password: it is in the environment of each daemon. */
export const urlOf = (servers: readonly Pick<Server, 'port'>[], user = 'admin'): string =>
  `postgres://${user}@${servers.map(({ port }) => `127.0.0.1:${port}`).join(',')}/${DATABASE}`

const withPassword = (start: Start): Start => ({
  ...start,
  env: { PGPASSWORD: PASSWORD, ...start.env },
})

/** Starts a daemon before a server, and waits until it listens. */
export const serveBefore = (url: string, start: Start = {}): Promise<Daemon> =>
  serve(url, withPassword(start))

/** Runs the program before a server, without waiting for it. */
export const launchBefore = (url: string, start: Start = {}): Process =>
  launch(url, withPassword(start))

/** All plants that a database has. */
export async function plantsIn(
  query: (statement: string) => Promise<{ id: string; name: string; tag: string | null }[]>,
): Promise<Map<bigint, StoredPlant>> {
  const rows = await query('SELECT id::text AS id, name, tag FROM plants')
  return new Map(rows.map(({ id, ...rest }) => [BigInt(id), { id: BigInt(id), ...rest }]))
}

/** A daemon that ends well leaves no lane. */
export async function expectNoLane(server: Server, report: Report): Promise<void> {
  const lanes = await server.query('SELECT FROM lanes', DATABASE)
  report.expect(lanes.length === 0, 'a lane is left')
}

/**
 * Compares every plant that a stopped daemon has left on a server with the responses to its clients; "plantstore check"
 * verifies the database.
 */
export async function expectLeft(server: Server, ledger: Ledger, report: Report): Promise<void> {
  const check = launchBefore(urlOf([server]), { command: 'check' })
  const code = await check.finished
  const integrity = code === 0 ? 'ok' : `check ends with ${code}: ${check.out()}${check.err()}`
  const plants = await plantsIn((statement) => server.query(statement, DATABASE))
  report.note(...faultsOf({ ...judge(plants, ledger), integrity }))
}
