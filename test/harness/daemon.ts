// The program under test: its commands, and daemons.
import { join, resolve } from 'node:path'
import { builtPath, faultOf } from './built'
import { temporaryFolder } from './folder'
import { type Process, type ProcessOptions, run, startProcess } from './process'
import { serverEnvironment, withDatabase } from './server-database'

export { temporaryFolder }

// Daemons under test are on this machine: requests to them must not go through a proxy.
process.env.NO_PROXY = [process.env.NO_PROXY, '127.0.0.1', 'localhost', '::1']
  .filter(Boolean)
  .join()

/** The token that daemons under test accept. */
export const TOKEN = 'test_0123456789abcdef'

/** The folder of the repository. */
export const root = resolve(import.meta.dir, '..', '..')

/** For `setDefaultTimeout`: only a test that hangs takes so long, on however slow a machine. */
export const PATIENCE_MS = 60_000

/** The command line of the built program. Throws if there is none, or `dist/plantstore` is not of this source. */
export function builtProgram(): readonly string[] {
  const fault = faultOf(builtPath)
  if (fault) throw new Error(fault)
  return [builtPath]
}

/** The command line of the program under test: the executable if `TESTED_BINARY` names one, else the source. */
export const program: readonly string[] = Bun.env.TESTED_BINARY
  ? builtProgram()
  : [process.execPath, join(root, 'src/main.ts')]

export type RunOptions = ProcessOptions & {
  /** A command that runs the program: `['setpriv', '--reuid=65534']`. */
  readonly under?: readonly string[]
  /** Another program than the one under test. */
  readonly program?: readonly string[]
}

/** Starts a command of the program. */
export function startProgram(args: readonly string[], options: RunOptions = {}): Process {
  return startProcess(commandLine(args, options), environment(options))
}

/** Runs a command of the program to its end. */
export function runProgram(args: readonly string[], options: RunOptions = {}) {
  return run(commandLine(args, options), environment(options))
}

const commandLine = (args: readonly string[], options: RunOptions) => [
  ...(options.under ?? []),
  ...(options.program ?? program),
  ...withDatabase(args),
]

const environment = (options: RunOptions): RunOptions => ({
  ...options,
  env: { ...serverEnvironment, ...options.env },
})

export type DaemonOptions = RunOptions & {
  readonly args?: readonly string[]
  readonly database?: string
}

/** Starts a daemon on a free port. `await using daemon = await startDaemon(…)` kills it at the end of the block. */
export async function startDaemon(options: DaemonOptions = {}): Promise<Daemon> {
  const database = options.database ? ['--database', options.database] : []
  const port =
    options.args?.includes('--unix') || options.env?.PLANTSTORE_UNIX ? [] : ['--port', '0']
  const args = ['serve', ...port, ...database, ...(options.args ?? [])]
  const env = { PLANTSTORE_TOKEN: TOKEN, ...options.env }
  const child = startProgram(args, { ...options, env })
  return await listening(child, env.PLANTSTORE_TOKEN)
}

/** The same on a database of its own, in a folder that goes with the daemon. */
export async function startTemporary(options: DaemonOptions = {}) {
  const folder = temporaryFolder()
  const database = folder.file('plants.db')
  const daemon = await startDaemon({ ...options, database })
  return {
    ...daemon,
    folder,
    database,
    async [Symbol.asyncDispose]() {
      await daemon.kill()
      folder[Symbol.dispose]()
    },
  }
}

export type LogLine = { readonly event: string; readonly [field: string]: unknown }

export type Daemon = Awaited<ReturnType<typeof listening>>

/** Waits until a process logs that it listens; kills it if it does not. */
export async function listening(child: Process, token: string = TOKEN, patience = PATIENCE_MS) {
  const events = (): LogLine[] =>
    child
      .err()
      .slice(0, child.err().lastIndexOf('\n') + 1)
      .split('\n')
      .filter((line) => line.startsWith('{'))
      .map((line) => JSON.parse(line))

  /** The first event of this name, as soon as it is logged. */
  async function event(name: string, withinMs?: number): Promise<LogLine> {
    const find = () => events().find((line) => line.event === name)
    await child.prints(() => find() !== undefined, `the event "${name}"`, withinMs)
    const found = find()
    if (!found) throw new Error(`exit code ${await child.exited}, no "${name}": ${child.err()}`)
    return found
  }

  const { url } = await event('listening', patience).catch(async (error) => {
    await child.kill()
    throw error
  })
  const headers = { authorization: `Bearer ${token}`, 'content-type': 'application/json' }

  return {
    ...child,
    url: String(url),
    port: Number(new URL(String(url)).port),
    token,
    /** The events of its log so far. */
    events,
    event,
    /** Sends a request with the token; `json` is sent as the body, by POST unless a method is given. */
    fetch(path: string, init: BunFetchRequestInit & { json?: unknown } = {}): Promise<Response> {
      const { json, ...rest } = init
      return fetch(`${url}${path}`, {
        ...rest,
        ...(json === undefined
          ? {}
          : { body: JSON.stringify(json), method: rest.method ?? 'POST' }),
        headers: { ...headers, ...(rest.headers as object) },
      })
    },
    /** The sample of a metric, such as `plantstore_wal_bytes`. */
    async metric(name: string): Promise<number> {
      const samples = (await (await this.fetch('/metrics')).text()).split('\n')
      const sample = samples.find((line) => line.startsWith(`${name} `))
      return Number(sample?.split(' ').at(-1))
    },
    /** Creates a plant by its fields, or by a text. */
    create(plant: bigint | number | string, name = 'Rose', tag?: string): Promise<Response> {
      const fields = JSON.stringify({ name, tag }).slice(1)
      const body = typeof plant === 'string' ? plant : `{"id":${plant},${fields}`
      return this.fetch('/plants', { method: 'POST', body })
    },
  }
}
