// The programs that faults are injected into. Whatever is started here is killed when the fault ends.
import { join } from 'node:path'
import { builtPath } from '../../harness/built.ts'
import {
  listening,
  startProgram,
  type Daemon as TestedDaemon,
  TOKEN,
} from '../../harness/daemon.ts'
import type { Process } from '../../harness/process.ts'
import { within } from './fault.ts'
import { after } from './lab.ts'

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
}

export type Run = Process & { stderr: () => string }
export type Daemon = TestedDaemon & { stderr: () => string }

/** Starts the program on a database without waiting for it to listen. */
export function launch(database: string, start: Start = {}): Run {
  const name = start.command ?? 'serve'
  const listen = name === 'serve' ? ['--host', '127.0.0.1', '--port', '0'] : []
  const args = [name, ...(start.words ?? []), ...listen, '--database', database]
  const child = startProgram(args, {
    program: start.program ?? plantstore,
    under: start.wrap ?? [],
    env: { PLANTSTORE_TOKEN: TOKEN, ...start.env },
  })
  const undo = after(child.kill)
  child.exited.then(undo)
  return { ...child, stderr: child.err }
}

/** Starts a daemon on a database, and waits until it listens. */
export async function serve(database: string, start: Start = {}): Promise<Daemon> {
  const daemon = await listening(launch(database, start), TOKEN, 15_000)
  const stop = () => within(20_000, 'the end after SIGTERM', daemon.stop())
  return { ...daemon, stop, stderr: daemon.err }
}
