// A running server as a contender of creates.
import { cpuOfTree } from './process.ts'
import { type Command, removeFolder } from './processes.ts'
import type { Contender } from './rounds.ts'
import { type Server, startServer } from './server.ts'
import { createLoader } from './wrk.ts'

type Settings = {
  /** Changes how it is started. */
  readonly wrapped?: (command: Command) => Command
  /** A database server whose CPU counts beside its own. */
  readonly databasePid?: number
  /** The plants that are stored, if not in its folder. */
  readonly countRows?: () => Promise<number>
}

/** `end` stops it, and throws unless what is stored is what it answered. */
export async function startContender(
  server: Server,
  { wrapped, databasePid, countRows }: Settings,
): Promise<Contender & { end(): Promise<void> }> {
  const running = await startServer(server, undefined, wrapped)
  const loader = createLoader(running)
  // Half of the JIT's work is done in the first second.
  await loader.create(64, 1)
  return {
    name: server.name,
    async load(connections, seconds) {
      const before = databasePid === undefined ? 0 : cpuOfTree(databasePid)
      const load = await loader.create(connections, seconds)
      if (databasePid === undefined) return load
      return { ...load, serverCpu: (cpuOfTree(databasePid) - before) / load.requests }
    },
    async end() {
      await running.stop()
      const rows = await (countRows?.() ?? server.rows?.(running.folder))
      if (rows !== undefined) loader.check(rows)
      removeFolder(running.folder)
    },
  }
}
