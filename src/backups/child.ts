// Runs a command of this program as a separate process, which the daemon can end at any time.

import { readFileSync } from 'node:fs'
import { ownProgram } from '../cli/command'

export type Child = ReturnType<typeof startChild>

export type ChildOptions = {
  /** The program; default: this one. */
  readonly program?: readonly string[]
  /** A process that does nothing for so long hangs; default: 5 minutes. */
  readonly hangsAfterMs?: number
}

const HANGS_AFTER_MS = 300_000
const LOOKS = 10

// The page faults and the CPU time of a process so far (proc_pid_stat(5), fields 10 to 15). Whether it copies, checks or
// syncs, however slow the disk is, they grow. null: it is gone.
function workOf(pid: number): string | null {
  try {
    const stat = readFileSync(`/proc/${pid}/stat`, 'utf8')
    const fields = stat.slice(stat.lastIndexOf(')') + 2).split(' ')
    return fields.slice(7, 13).join(' ')
  } catch {
    return null
  }
}

/** Calls `onHang` when a process has done nothing for some time; returns a function that ends the watch. */
function watchWork(pid: number, hangsAfterMs: number, onHang: () => void): () => void {
  let seen: string | null = null
  let idle = 0
  // Counts looks, not time: while the machine sleeps, nothing works.
  const timer = setInterval(() => {
    const work = workOf(pid)
    idle = work !== null && work === seen ? idle + 1 : 0
    seen = work
    if (idle === LOOKS) onHang()
  }, hangsAfterMs / LOOKS)
  return () => clearInterval(timer)
}

/** Starts a command. It inherits no environment, which may hold a token, and gets no signals from a terminal. */
export function startChild(
  args: readonly string[],
  { program = ownProgram(), hangsAfterMs = HANGS_AFTER_MS }: ChildOptions = {},
) {
  const child = Bun.spawn([...program, ...args], {
    env: {},
    detached: true,
    stdin: 'ignore',
    stdout: 'ignore',
    stderr: 'pipe',
  })
  const hung = Promise.withResolvers<string>()
  const endWatch = watchWork(child.pid, hangsAfterMs, () => {
    child.kill('SIGKILL')
    hung.resolve(`killed: the backup process did nothing for ${hangsAfterMs / 1000} s`)
  })
  const end = async () => {
    const [code, text] = await Promise.all([child.exited, new Response(child.stderr).text()])
    if (code === 0) return null
    const said = text.trim().replace(/^plantstore: /, '')
    return said || `the backup process ended with ${child.signalCode ?? `exit code ${code}`}`
  }
  return {
    pid: child.pid,
    /** Resolves to null if the command succeeds, else to the reason; also if it hangs, and has been sent SIGKILL. */
    problem: Promise.race([end(), hung.promise]).finally(endWatch),
    /** Resolves when the process is gone; one that waits for a disk that hangs may outlive SIGKILL. */
    exited: child.exited,
    /** Ends it at once; resolves when it is gone. */
    async kill() {
      child.kill('SIGKILL')
      await child.exited
    },
  }
}
