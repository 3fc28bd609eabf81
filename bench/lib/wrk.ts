// Runs wrk with one of the scripts in load/.
import { join } from 'node:path'
import { cpuTime } from './cpu.ts'
import type { Order } from './ids.ts'
import { run } from './processes.ts'
import type { Running } from './server.ts'

/** The report of a run. Latencies are in microseconds, as the client sees them. */
export type Load = {
  requests: number
  bytes: number
  microseconds: number
  perSecond: number
  /** CPU microseconds of the server's process per request. */
  cpu: number
  /** Answers with a status of 400 or above. */
  refused: number
  /** Answers slower than 2 s; also counted in `requests`. */
  timeouts: number
  /** Connections that failed. */
  broken: number
  p50: number
  p99: number
  p999: number
  max: number
  /** Counters of mixed.lua. */
  counters: string
}

const scripts = join(import.meta.dir, '..', 'load')

type Script = 'create' | 'read' | 'mixed'
type Target = { url: string; pid: number; connections: number; seconds: number }

export async function wrk(script: Script, args: string[], target: Target): Promise<Load> {
  const { url, pid, connections, seconds } = target
  const argv = ['wrk', '-t1', `-c${connections}`, `-d${seconds}s`]
  argv.push('-s', join(scripts, `${script}.lua`), url, '--', ...args)
  const before = cpuTime(pid)
  const out = await run({ argv })
  // Requests in flight when wrk ends are finished, and their CPU counted, before the next server.
  await Bun.sleep(50)
  const cpu = cpuTime(pid) - before
  const line = out.split('\n').find((text) => text.startsWith('{"requests"'))
  if (!line) throw new Error(`wrk printed no report:\n${out}`)
  const report = JSON.parse(line) as Omit<Load, 'perSecond' | 'cpu'>
  return {
    ...report,
    perSecond: (report.requests / report.microseconds) * 1e6,
    cpu: cpu / report.requests,
  }
}

/** Throws unless every answer was a success; `who` begins the message. */
export function allSucceeded(load: Load, who?: string): void {
  const fail = (what: string) => new Error(who ? `${who}: ${what}` : what)
  if (load.requests === 0) throw fail('no answer')
  if (load.refused > 0) throw fail(`refused ${load.refused} of ${load.requests} requests`)
  if (load.broken > 0) throw fail(`broke ${load.broken} connections`)
}

/** A client that never creates an id twice; it begins with the `first`th of an order. */
export function createLoader(running: Running, order: Order = 'ascending', first = 0) {
  let server = running
  let next = first
  let answered = 0
  let unanswered = 0
  return {
    async create(connections: number, seconds: number): Promise<Load> {
      const { path, token, body } = server.create
      const args = [path, token, body, String(next), order]
      const { url, pid } = server
      const load = await wrk('create', args, { url, pid, connections, seconds })
      // wrk makes one request that it never sends, and leaves one per connection in flight.
      next += 1 + load.requests + connections
      answered += load.requests
      unanswered += connections
      return load
    },
    next: () => next,
    answered: () => answered,
    /** Those that may have been stored: answered or not. */
    sent: () => answered + unanswered,
    /** Continues with another process; `count` plants from `next` on were added by other means. */
    resume(other: Running, count: number): void {
      server = other
      next += count
      answered += count
    },
    /** Throws if `rows`, the plants stored, are fewer than were answered or more than were sent. */
    check(rows: number): void {
      if (rows >= answered && rows <= answered + unanswered) return
      throw new Error(`answered ${answered} creates, stored ${rows} plants`)
    },
  }
}
