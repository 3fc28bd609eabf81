// Load by wrk, with one of the scripts in load/.
import { join } from 'node:path'
import { cpuTime } from './process.ts'
import { run } from './processes.ts'
import type { Figures } from './rounds.ts'
import { FIRST_ID, type Running } from './server.ts'

type Report = Omit<Figures, 'perSecond' | 'cpu'> & {
  readonly microseconds: number
  /** Answers with a status of 400 or above. */
  readonly refused: number
  /** Connections that failed. */
  readonly broken: number
}

/** Loads a server for some seconds. Throws unless every answer was a success. */
async function wrk(
  script: 'create' | 'read',
  args: readonly string[],
  { url, pid }: Running,
  connections: number,
  seconds: number,
): Promise<Report & Figures> {
  const path = join(import.meta.dir, '..', 'load', `${script}.lua`)
  const flags = ['-t1', `-c${connections}`, `-d${seconds}s`, '-s', path]
  const before = cpuTime(pid)
  const out = await run({ argv: ['wrk', ...flags, url, '--', ...args] })
  // Requests in flight when wrk ends are finished, and their CPU counted, before the next server.
  await Bun.sleep(50)
  const cpu = cpuTime(pid) - before
  const line = out.split('\n').find((text) => text.startsWith('{"requests"'))
  if (!line) throw new Error(`wrk printed no report:\n${out}`)
  const report: Report = JSON.parse(line)
  const { requests, microseconds, refused, broken } = report
  if (requests === 0 || refused + broken > 0)
    throw new Error(`${requests} requests, ${refused} refused, ${broken} broken connections`)
  return { ...report, perSecond: (requests / microseconds) * 1e6, cpu: cpu / requests }
}

/** Reads with a path whose '#' becomes one of the first `count` ids. */
export const readOf = (running: Running, path: string, count: number) => {
  const args = [path, running.create.token, String(FIRST_ID), String(count)]
  return (connections: number, seconds: number): Promise<Figures> =>
    wrk('read', args, running, connections, seconds)
}

/** A client that never creates an id twice; it begins with the `first`th. */
export function createLoader(running: Running, first = 0) {
  const { path, token, body } = running.create
  let next = FIRST_ID + first
  let answered = 0
  let unanswered = 0
  return {
    async create(connections: number, seconds: number): Promise<Figures> {
      const args = [path, token, body, String(next)]
      const load = await wrk('create', args, running, connections, seconds)
      // wrk makes one request that it never sends, and leaves one per connection in flight.
      next += 1 + load.requests + connections
      answered += load.requests
      unanswered += connections
      return load
    },
    /** Throws if `rows`, the plants stored, are fewer than were answered or more than were sent. */
    check(rows: number): void {
      if (rows >= answered && rows <= answered + unanswered) return
      throw new Error(`answered ${answered} creates, stored ${rows} plants`)
    },
  }
}
