// The programs that faults are injected into. Whatever is started here is killed when the fault ends.
import { join } from 'node:path'
import { builtPath } from '../../harness/built.ts'
import { type Daemon, listening, startProgram, TOKEN } from '../../harness/daemon.ts'
import type { Process } from '../../harness/process.ts'
import { inTime } from '../../harness/until.ts'
import { comesTrue } from './fault.ts'
import { after } from './lab.ts'

export type { Daemon }

export type Program = readonly string[]

export const plantstore: Program = [builtPath]

/** The negative control, which gives up one safeguard of the daemon. */
export function control(...flags: string[]): Program {
  return [process.execPath, join(import.meta.dir, 'control.ts'), ...flags]
}

export interface Start {
  program?: Program
  /** Commands before it that exec it in the end with the same process id. */
  wrap?: string[]
  /** The command of the program; default: serve. */
  command?: string
  /** Arguments of the command beside its flags. */
  words?: string[]
  env?: Record<string, string>
  /** Of the daemon; default: any free port. */
  port?: number
}

/** A service that clients use: a daemon, or the daemons of a supervisor. */
export type Service = Pick<Daemon, 'port' | 'token'>

/** Starts the program on a database without waiting for it to listen. */
export function launch(database: string, start: Start = {}): Process {
  const name = start.command ?? 'serve'
  const listen = name === 'serve' ? ['--host', '127.0.0.1', '--port', String(start.port ?? 0)] : []
  const args = [name, ...(start.words ?? []), ...listen, '--database', database]
  const child = startProgram(args, {
    program: start.program ?? plantstore,
    under: start.wrap ?? [],
    env: { PLANTSTORE_TOKEN: TOKEN, ...start.env },
  })
  const undo = after(child.kill)
  child.exited.then(undo)
  return child
}

/** Starts a daemon on a database, and waits until it listens. */
export async function serve(database: string, start: Start = {}): Promise<Daemon> {
  return served(await listening(launch(database, start), TOKEN, 15_000))
}

function served(daemon: Daemon): Daemon {
  const stop = () => inTime(() => 'the end after SIGTERM', daemon.stop(), 20_000)
  return { ...daemon, stop }
}

// As RestartSec= of the unit, but shorter.
const RESTART_MS = 200
const STORAGE = 74

export type Supervised = Awaited<ReturnType<typeof supervise>>

export interface Watchers {
  ended?: (daemon: Daemon) => unknown
  started?: (daemon: Daemon) => unknown
}

/** Starts a daemon, and another on its port whenever one ends, as systemd does after exit code 74 or a kill. */
export async function supervise(
  database: string,
  start: Start = {},
  { ended, started }: Watchers = {},
) {
  let daemon = await serve(database, start)
  const { port, token } = daemon
  const problems: string[] = []
  let [log, restarts, isOver, isExpected] = ['', 0, false, false]

  /** Starts the next one, as often as it takes: while its disk fails, it ends with 74. */
  async function next(): Promise<Daemon> {
    for (;;) {
      await Bun.sleep(RESTART_MS)
      const run = launch(database, { ...start, port })
      try {
        return await listening(run, TOKEN, 15_000).then((it) => served(it))
      } catch {
        const code = await run.exited
        if (code !== STORAGE) problems.push(`a start ends with ${code}: ${run.err()}`)
        log += run.err()
        if (code !== STORAGE || isOver) return daemon
      }
    }
  }

  async function watch(): Promise<void> {
    while (!isOver) {
      const code = await daemon.finished
      log += daemon.err()
      if (code !== STORAGE && !isExpected) problems.push(`exit code ${code}: ${daemon.err()}`)
      isExpected = false
      if (isOver) return
      await ended?.(daemon)
      daemon = await next()
      restarts += 1
      await started?.(daemon)
    }
  }
  const watching = watch()

  return {
    port,
    token,
    /** Exit codes that no supervisor should see, one line each. */
    problems,
    /** The one that runs now, or the last. */
    current: () => daemon,
    restarts: () => restarts,
    /** The log of all of them. */
    log: () => log + (daemon.alive() ? daemon.err() : ''),
    /** Ends the current one in a way, and resolves once the next one listens. */
    async replace(end: (daemon: Daemon) => Promise<unknown>) {
      const before = restarts
      isExpected = true
      await end(daemon)
      await comesTrue(20_000, () => restarts > before)
    },
    /** Ends it in a way, and starts no other. */
    async end<T>(end: (daemon: Daemon) => Promise<T>): Promise<T> {
      isOver = true
      isExpected = true
      const result = await end(daemon)
      await watching
      return result
    },
  }
}
