// Runs a command of this program as a separate process, which the daemon can kill at any time.

import { ownProgram } from '../../program'

/** `problem`: the reason of a failure; null on success. `warning`: the output of a successful command, or ''. */
type ChildResult = { readonly problem: string | null; readonly warning: string }

export type Child = {
  readonly pid: number
  /** Resolves when the command has ended, or was killed after the time limit. */
  readonly result: Promise<ChildResult>
  /** Resolves when the process has ended; one that waits for a hanging disk may outlive SIGKILL. */
  readonly exit: Promise<number>
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
  const late = Promise.withResolvers<ChildResult>()
  const timer = setTimeout(() => {
    child.kill('SIGKILL')
    const problem = `killed: the backup was not complete after ${limitMs / 1000} s`
    late.resolve({ problem, warning: '' })
  }, limitMs)
  const end = async () => {
    const [code, text] = await Promise.all([child.exited, new Response(child.stderr).text()])
    const reason = text.trim().replace(/^plantstore: /, '')
    if (code === 0) return { problem: null, warning: reason }
    const fallback = `the backup process ended with ${child.signalCode ?? `exit code ${code}`}`
    return { problem: reason || fallback, warning: '' }
  }
  return {
    pid: child.pid,
    result: Promise.race([end(), late.promise]).finally(() => clearTimeout(timer)),
    exit: child.exited,
    async kill() {
      child.kill('SIGKILL')
      await child.exited
    },
  }
}
