// Facts about a process from /proc.
import { readdirSync, readFileSync } from 'node:fs'

const megabyte = 1024 * 1024

/** Anonymous memory of a process in megabytes: without the pages of its executable, which can be read again. */
export function ownMemory(pid: number): number {
  const status = readFileSync(`/proc/${pid}/status`, 'utf8')
  return (Number(/^RssAnon:\s+(\d+)/m.exec(status)?.[1] ?? '0') * 1024) / megabyte
}

export function openFiles(pid: number): number {
  return readdirSync(`/proc/${pid}/fd`).length
}

const switches = (pid: number): number =>
  readdirSync(`/proc/${pid}/task`).reduce((sum, thread) => {
    const status = readFileSync(`/proc/${pid}/task/${thread}/status`, 'utf8')
    const counts = [...status.matchAll(/_ctxt_switches:\s+(\d+)/g)]
    return counts.reduce((all, [, count]) => all + Number(count), sum)
  }, 0)

/** Stops all threads of a process between two system calls; returns a function that resumes them. */
export async function halt(pid: number): Promise<() => void> {
  process.kill(pid, 'SIGSTOP')
  for (let last = -1, now = switches(pid); now !== last; now = switches(pid)) {
    last = now
    await Bun.sleep(20)
  }
  return () => process.kill(pid, 'SIGCONT')
}

export function watchMemory(pid: number) {
  let peak = 0
  const look = () => {
    try {
      peak = Math.max(peak, ownMemory(pid))
    } catch {
      // It has ended.
    }
  }
  look()
  const timer = setInterval(look, 50)
  return {
    peak: () => Math.round(peak),
    stop: () => clearInterval(timer),
  }
}
