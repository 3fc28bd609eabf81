// Starts one server and waits until it answers.
import { mkdirSync } from 'node:fs'
import { createServer } from 'node:net'
import { join } from 'node:path'
import type { Subprocess } from 'bun'
import { type Command, readLog, start, stop, temporaryFolder } from './processes.ts'

/** What wrk has to send for one create: '#' in the body becomes the id. */
export type Create = { path: string; token: string; body: string }

export type Server = {
  name: string
  what: string
  /** Whether a create is on the disk, synced, before its answer. */
  durable: 'yes' | 'no' | 'keeps nothing'
  /** Why it cannot run here, if it cannot. */
  missing?: () => string | undefined
  command: (port: number, folder: string) => Command
  create: (url: string) => Create | Promise<Create>
  /** The plants in the files of a server that has stopped. */
  rows?: (folder: string) => number | Promise<number>
}

export type Running = {
  url: string
  pid: number
  folder: string
  create: Create
  stop: () => Promise<void>
}

export function freePort(): Promise<number> {
  return new Promise((resolve, reject) => {
    const probe = createServer()
    probe.on('error', reject)
    probe.listen(0, '127.0.0.1', () => {
      const address = probe.address()
      probe.close(() => resolve(typeof address === 'object' ? (address?.port ?? 0) : 0))
    })
  })
}

// Resolves when anything at all answers at `url`.
async function untilAnswers(url: string, child: Subprocess, log: string): Promise<void> {
  const deadline = Date.now() + 30_000
  while (Date.now() < deadline) {
    if (child.exitCode !== null) throw new Error(`the server ended early:\n${readLog(log)}`)
    try {
      await (await fetch(url)).arrayBuffer()
      return
    } catch {
      await Bun.sleep(5)
    }
  }
  throw new Error(`no answer at ${url}:\n${readLog(log)}`)
}

/** `wrapped` may put a tracer before the command; the server is then the tracer's child. */
export async function startServer(
  server: Server,
  folder = temporaryFolder(),
  wrapped: (command: Command) => Command = (command) => command,
): Promise<Running> {
  mkdirSync(folder, { recursive: true })
  const port = await freePort()
  const url = `http://127.0.0.1:${port}`
  const log = join(folder, 'log')
  const command = server.command(port, folder)
  const starts = wrapped(command)
  const child = start(starts, log)
  await untilAnswers(`${url}/health`, child, log)
  const pid = starts === command ? child.pid : await onlyChild(child.pid)
  return {
    url,
    pid,
    folder,
    create: await server.create(url),
    stop: () => stop(child, pid),
  }
}

async function onlyChild(pid: number): Promise<number> {
  const children = await Bun.file(`/proc/${pid}/task/${pid}/children`).text()
  return Number(children.trim().split(' ')[0])
}
