// Starts a server and waits until it answers.
import { mkdirSync } from 'node:fs'
import { join } from 'node:path'
import type { Subprocess } from 'bun'
import { freePort } from '../../tools/free-port.ts'
import { type Command, readLog, start, stop, temporaryFolder } from './processes.ts'

/** The least id of the plants that are created; all ids have ten digits. */
export const FIRST_ID = 1_000_000_000

/** The request of a create, as wrk sends it; '#' in the body becomes the id. */
type Create = { path: string; token: string; body: string }

export type Server = {
  name: string
  /** The file without which it cannot run; `bun run peers` makes it. */
  needs?: string
  command: (port: number, folder: string) => Command
  create: (url: string) => Create | Promise<Create>
  /** The number of plants stored, once the server has stopped. */
  rows?: (folder: string) => number
}

export type Running = {
  url: string
  pid: number
  folder: string
  /** Milliseconds from exec to the first answer. */
  startMs: number
  create: Create
  stop: () => Promise<void>
}

function answers(port: number): Promise<boolean> {
  return new Promise((resolve) => {
    Bun.connect({
      hostname: '127.0.0.1',
      port,
      socket: {
        open: (socket) => void socket.write('GET /health HTTP/1.1\r\nHost: bench\r\n\r\n'),
        data(socket) {
          resolve(true)
          socket.end()
        },
        close: () => resolve(false),
        connectError: () => resolve(false),
      },
    }).catch(() => resolve(false))
  })
}

const START_MS = 60_000

/** Resolves at the first answer, of any status. Throws if the process ends, or after {@link START_MS}. */
async function untilFirstAnswer(port: number, child: Subprocess, log: string) {
  const deadline = performance.now() + START_MS
  // Not `fetch`: its failures cost CPU that the server needs to start.
  while (!(await answers(port))) {
    if (child.exitCode !== null) throw new Error(`did not start\n${readLog(log)}`)
    if (performance.now() > deadline)
      throw new Error(`no answer in ${START_MS / 1000} s\n${readLog(log)}`)
    await Bun.sleep(1)
  }
}

/** `wrapped` may change the command, or start it by another that becomes it. */
export async function startServer(
  server: Server,
  folder = temporaryFolder(),
  wrapped: (command: Command) => Command = (command) => command,
): Promise<Running> {
  mkdirSync(folder, { recursive: true })
  const port = freePort()
  const url = `http://127.0.0.1:${port}`
  const log = join(folder, 'log')
  const command = server.command(port, folder)
  const from = performance.now()
  const child = start(wrapped(command), log)
  await untilFirstAnswer(port, child, log)
  const startMs = performance.now() - from
  return {
    url,
    pid: child.pid,
    folder,
    startMs,
    create: await server.create(url),
    stop: () => stop(child),
  }
}

/** Creates the first `count` plants over HTTP. */
export async function seed({ url, create }: Running, count: number): Promise<void> {
  let next = 0
  async function client(): Promise<void> {
    while (next < count) {
      const body = create.body.replace('#', String(FIRST_ID + next++))
      const headers = {
        'Content-Type': 'application/json',
        Authorization: `Bearer ${create.token}`,
      }
      const answer = await fetch(url + create.path, { method: 'POST', headers, body })
      if (!answer.ok) throw new Error(`cannot create a plant: ${await answer.text()}`)
    }
  }
  await Promise.all(Array.from({ length: 64 }, client))
}
