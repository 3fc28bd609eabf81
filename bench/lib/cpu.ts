// CPU time of another process.
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

/** CPU seconds, in steps of 10 ms, of the children of a process that have ended. */
export function cpuOfChildren(pid: number): number {
  const stat = readFileSync(`/proc/${pid}/stat`, 'utf8')
  // Behind the name, which may hold spaces: cutime and cstime are fields 16 and 17 (proc(5)).
  const fields = stat.slice(stat.lastIndexOf(')') + 2).split(' ')
  return (Number(fields[13]) + Number(fields[14])) / 100
}

/** CPU microseconds of a process and all below it, ended ones included. */
export function cpuOfTree(pid: number): number {
  const children = readFileSync(`/proc/${pid}/task/${pid}/children`, 'utf8').trim().split(' ')
  const below = children.filter(Boolean).map((child) => {
    try {
      return cpuTime(Number(child))
    } catch {
      // It has ended since, and counts below.
      return 0
    }
  })
  return cpuTime(pid) + sum(below) + cpuOfChildren(pid) * 1e6
}
