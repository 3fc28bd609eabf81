// Servers that are loaded in turn, each by a client of its own; and what PostgreSQL does for them.
import { cpuOfTree } from './cpu.ts'
import type { Command } from './processes.ts'
import { type Running, type Server, startServer } from './server.ts'
import { median, sum } from './statistics.ts'
import { allSucceeded, createLoader, type Load } from './wrk.ts'

/** Microseconds; `cpu` is that of the server per create, `postgres` that of PostgreSQL. */
export type Figures = { perSecond: number; cpu: number; postgres: number; p50: number; p99: number }

export type Contender = {
  readonly name: string
  readonly isLoadedBy: (connections: number) => boolean
  readonly load: (connections: number, seconds: number) => Promise<Figures>
  /** Ends its servers; throws unless what is stored is what they answered. */
  readonly end: () => Promise<void>
}

type Member = { readonly running: Running; readonly loader: ReturnType<typeof createLoader> }

// The second of two creates the ids from here on.
const NEXT_IDS = 60_000_000

type Options = {
  readonly name: string
  /** More than one: the load is split between them. */
  readonly servers: readonly Server[]
  readonly isLoadedBy?: Contender['isLoadedBy']
  /** The plants that are stored, once the servers have ended. */
  readonly rows: (folder: string) => number | Promise<number>
  readonly postgresPid: number
  /** Changes how its servers are started. */
  readonly wrapped?: ((command: Command) => Command) | undefined
}

function summarize(loads: readonly Load[], postgresMicroseconds: number): Figures {
  const requests = sum(loads.map((load) => load.requests))
  return {
    perSecond: sum(loads.map((load) => load.perSecond)),
    cpu: sum(loads.map((load) => load.cpu * load.requests)) / requests,
    postgres: postgresMicroseconds / requests,
    p50: median(loads.map((load) => load.p50)),
    p99: Math.max(...loads.map((load) => load.p99)),
  }
}

export async function startContender(options: Options): Promise<Contender> {
  const { name, servers, rows, postgresPid, wrapped, isLoadedBy = () => true } = options
  const members: Member[] = []
  for (const [index, server] of servers.entries()) {
    const running = await startServer(server, undefined, wrapped)
    members.push({ running, loader: createLoader(running, 'ascending', index * NEXT_IDS) })
  }

  return {
    name,
    isLoadedBy,
    async load(connections, seconds) {
      const before = cpuOfTree(postgresPid)
      const share = connections / members.length
      const loads = await Promise.all(members.map(({ loader }) => loader.create(share, seconds)))
      for (const load of loads) allSucceeded(load, name)
      return summarize(loads, cpuOfTree(postgresPid) - before)
    },
    async end() {
      for (const { running } of members) await running.stop()
      const stored = await rows(members[0]?.running.folder ?? '')
      const [low, high] = [
        sum(members.map(({ loader }) => loader.answered())),
        sum(members.map(({ loader }) => loader.sent())),
      ]
      if (stored >= low && stored <= high) return
      throw new Error(`${name} answered ${low} creates, stored ${stored} plants`)
    },
  }
}
