// CPU time and memory of another process.
import { dlopen, ptr } from 'bun:ffi'
import { readFileSync } from 'node:fs'
import { sum } from './statistics.ts'

const { symbols: libc } = dlopen('libc.so.6', {
  clock_gettime: { args: ['i32', 'ptr'], returns: 'i32' },
})
const time = new BigInt64Array(2)

/** CPU microseconds of a process, user and system, of all its threads, ended ones included. */
export function cpuTime(pid: number): number {
  // The clock of clock_getcpuclockid(3); /proc/PID/stat has steps of 10 ms.
  if (libc.clock_gettime((~pid << 3) | 2, ptr(time)) !== 0) throw new Error('the process has ended')
  return Number(time[0]) * 1e6 + Number(time[1]) / 1e3
}

/** CPU microseconds of a process and of its children, those that have ended in steps of 10 ms. */
export function cpuOfTree(pid: number): number {
  const stat = readFileSync(`/proc/${pid}/stat`, 'utf8')
  // Behind the name, which may hold spaces: cutime and cstime are fields 16 and 17 (proc(5)).
  const fields = stat.slice(stat.lastIndexOf(')') + 2).split(' ')
  const ended = (Number(fields[13]) + Number(fields[14])) * 10_000
  const children = readFileSync(`/proc/${pid}/task/${pid}/children`, 'utf8').trim().split(' ')
  const running = children.filter(Boolean).map((child) => {
    try {
      return cpuTime(Number(child))
    } catch {
      return 0
    }
  })
  return cpuTime(pid) + ended + sum(running)
}

/** The resident memory in bytes. */
export function residentBytes(pid: number): number {
  const status = readFileSync(`/proc/${pid}/status`, 'utf8')
  return Number(/^VmRSS:\s+(\d+) kB/m.exec(status)?.[1]) * 1024
}
