import { join } from 'node:path'
import { until, within } from './fault.ts'
import { after } from './lab.ts'

export const token = 'faults-need-a-token-of-their-own'
const root = join(import.meta.dir, '..', '..')

export type Program = string[]

export const plantstore: Program = [Bun.env.FAULTS_PROGRAM ?? join(root, 'dist', 'plantstore')]

/** The negative control, which gives up one safeguard of the daemon. */
export function control(...flags: string[]): Program {
  return [process.execPath, join(import.meta.dir, 'control.ts'), ...flags]
}

export interface Daemon {
  pid: number
  port: number
  token: string
  alive: () => boolean
  stderr: () => string
  exited: Promise<number>
  signal: (name: 'SIGTERM' | 'SIGKILL') => void
  /** Ends it at once and waits until it is gone. */
  kill: () => Promise<void>
  /** Ends it in order; the exit code. */
  stop: () => Promise<number>
}

export interface Start {
  program?: Program
  /** Commands before it that exec it in the end with the same process id. */
  wrap?: string[]
  /** The command of the program: serve, unless told. */
  command?: string
  /** The words that the command takes beside its flags. */
  words?: string[]
  env?: Record<string, string>
  /** Milliseconds until it must listen. */
  patience?: number
}

export interface Run {
  pid: number
  exited: Promise<number>
  stderr: () => string
  finished: Promise<void>
}

/** Starts the program on a database without waiting for it to listen. */
export function launch(database: string, start: Start = {}): Run {
  const program = start.program ?? plantstore
  const name = start.command ?? 'serve'
  const listen = name === 'serve' ? ['--host', '127.0.0.1', '--port', '0'] : []
  const flags = [name, ...(start.words ?? []), ...listen, '--database', database]
  const command = [...(start.wrap ?? []), ...program, ...flags]
  const child = Bun.spawn(command, {
    stdin: 'ignore',
    stdout: 'ignore',
    stderr: 'pipe',
    env: { PATH: process.env.PATH ?? '', PLANTSTORE_TOKEN: token, ...start.env },
  })
  let text = ''
  const finished = (async () => {
    const decoder = new TextDecoder()
    for await (const chunk of child.stderr) text += decoder.decode(chunk, { stream: true })
  })()
  const undo = after(() => child.kill('SIGKILL'))
  child.exited.then(undo)
  return { pid: child.pid, exited: child.exited, stderr: () => text, finished }
}

export async function serve(database: string, start: Start = {}): Promise<Daemon> {
  const run = launch(database, start)
  let code: number | undefined
  run.exited.then((value) => {
    code = value
  })
  let port = 0
  await until(start.patience ?? 15_000, () => {
    port = Number(/"url":"http:\/\/[^"]*:(\d+)\/?"/.exec(run.stderr())?.[1] ?? '0')
    return port !== 0 || code !== undefined
  })
  if (port === 0) {
    if (code === undefined) process.kill(run.pid, 'SIGKILL')
    throw new Error(`does not listen (exit code ${code}): ${run.stderr().trim().slice(-500)}`)
  }
  const signal = (name: 'SIGTERM' | 'SIGKILL') => {
    if (code === undefined) process.kill(run.pid, name)
  }
  return {
    pid: run.pid,
    port,
    token,
    alive: () => code === undefined,
    stderr: run.stderr,
    exited: run.exited,
    signal,
    async kill() {
      signal('SIGKILL')
      await run.exited
    },
    async stop() {
      signal('SIGTERM')
      return within(20_000, 'the end after SIGTERM', run.exited)
    },
  }
}
