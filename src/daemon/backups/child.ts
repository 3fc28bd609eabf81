// Runs a command of this program as a separate process, which the daemon can kill at any time.

import { ownProgram } from '../../program'

export type Child = {
  readonly pid: number
  /** Resolves to null if the command succeeds, else to the reason; also if it was killed after the time limit. */
  readonly problem: Promise<string | null>
  /** Resolves when the process has ended; one that waits for a hanging disk may outlive SIGKILL. */
  readonly exited: Promise<number>
  /** Kills the process; resolves when it has ended. */
  kill(): Promise<void>
}

export type ChildOptions = {
  /** The program; default: this one. */
  readonly program?: readonly string[]
  /** Time limit after which the process is killed; default: 6 hours. */
  readonly limitMs?: number
}

const LIMIT_MS = 6 * 3_600_000

/** Starts a command. It inherits no environment, which may contain a token, and receives no signals from a terminal. */
export function startChild(
  args: readonly string[],
  { program = ownProgram(), limitMs = LIMIT_MS }: ChildOptions = {},
): Child {
  const child = Bun.spawn([...program, ...args], {
    env: {},
    detached: true,
    stdin: 'ignore',
    stdout: 'ignore',
    stderr: 'pipe',
  })
  const late = Promise.withResolvers<string>()
  const timer = setTimeout(() => {
    child.kill('SIGKILL')
    late.resolve(`killed: the backup was not complete after ${limitMs / 1000} s`)
  }, limitMs)
  const end = async () => {
    const [code, text] = await Promise.all([child.exited, new Response(child.stderr).text()])
    if (code === 0) return null
    const reason = text.trim().replace(/^plantstore: /, '')
    return reason || `the backup process ended with ${child.signalCode ?? `exit code ${code}`}`
  }
  return {
    pid: child.pid,
    problem: Promise.race([end(), late.promise]).finally(() => clearTimeout(timer)),
    exited: child.exited,
    async kill() {
      child.kill('SIGKILL')
      await child.exited
    },
  }
}
