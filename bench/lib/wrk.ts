// Runs wrk with one of the scripts in load/, and counts the server's instructions meanwhile if it is asked to.
import { join } from 'node:path'
import { cpuTime } from './cpu.ts'
import type { Order } from './ids.ts'
import { countInstructions } from './perf.ts'
import { run } from './processes.ts'
import type { Running } from './server.ts'

/** One run of wrk. Latencies are in microseconds, as the client saw them. */
export type Load = {
  requests: number
  bytes: number
  microseconds: number
  perSecond: number
  /** CPU microseconds of the server's process for one request, user and system. */
  cpu: number
  /** Answers with a status of 400 or above. */
  refused: number
  /** Answers that took longer than 2 s; they are counted in `requests`. */
  timeouts: number
  /** Connections that failed. */
  broken: number
  p50: number
  p99: number
  p999: number
  max: number
  counters: string
  /** Instructions the server executed; absent where they cannot be counted. */
  instructions?: number
}

const scripts = join(import.meta.dir, '..', 'load')

type Script = 'create' | 'read' | 'mixed'
type Options = {
  url: string
  pid: number
  connections: number
  seconds: number
  /** To count costs time at each switch of the process: never while a rate or a latency is measured. */
  isCounted?: boolean
}

export async function wrk(script: Script, args: string[], options: Options): Promise<Load> {
  const { url, pid, connections, seconds, isCounted = false } = options
  const argv = ['wrk', '-t1', `-c${connections}`, `-d${seconds}s`]
  argv.push('-s', join(scripts, `${script}.lua`), url, '--', ...args)
  const { command, read } = isCounted
    ? countInstructions(pid, argv)
    : { command: argv, read: () => undefined }
  const cpu = cpuTime(pid)
  const out = await run({ argv: command })
  // What is on the way when wrk ends is worked off, and counted, before another server's turn.
  await Bun.sleep(50)
  const cpuMicroseconds = cpuTime(pid) - cpu
  const line = out.split('\n').find((text) => text.startsWith('{"requests"'))
  if (!line) throw new Error(`wrk said nothing of use:\n${out}`)
  const report = JSON.parse(line) as Omit<Load, 'perSecond' | 'cpu' | 'instructions'>
  const instructions = read()
  return {
    ...report,
    perSecond: (report.requests / report.microseconds) * 1e6,
    cpu: cpuMicroseconds / report.requests,
    ...(instructions === undefined ? {} : { instructions }),
  }
}

/** Throws unless every answer of a run was a success. */
export function allSucceeded(name: string, load: Load): void {
  if (load.requests === 0) throw new Error(`${name} answered nothing`)
  if (load.refused > 0) throw new Error(`${name} refused ${load.refused} of ${load.requests}`)
  if (load.broken > 0) throw new Error(`${name} broke ${load.broken} connections`)
}

/** A client of one server whose creates never repeat an id, from the `first`th of an order on. */
export function createLoader(running: Running, order: Order = 'ascending', first = 0) {
  let server = running
  let next = first
  let answered = 0
  let unanswered = 0
  return {
    async create(connections: number, seconds: number, isCounted = false): Promise<Load> {
      const { path, token, body } = server.create
      const args = [path, token, body, String(next), order]
      const load = await wrk('create', args, {
        url: server.url,
        pid: server.pid,
        connections,
        seconds,
        isCounted,
      })
      // wrk asks for one request that it never sends, and leaves one a connection in flight.
      next += 1 + load.requests + connections
      answered += load.requests
      unanswered += connections
      return load
    },
    next: () => next,
    /** Goes on with another process, whose store got `count` plants from `next` on otherwise. */
    resume(other: Running, count: number): void {
      server = other
      next += count
      answered += count
    },
    /** Throws unless `rows` can be what these runs left behind. */
    check(name: string, rows: number): void {
      if (rows >= answered && rows <= answered + unanswered) return
      throw new Error(`${name} answered ${answered} creates and keeps ${rows} plants`)
    },
  }
}
