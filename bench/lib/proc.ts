// Memory and open files of a process, from /proc.
import { readdirSync, readFileSync } from 'node:fs'

/** Bytes: resident, anonymous (not backed by a file), and the peak of resident. */
export function memory(pid: number): { resident: number; anonymous: number; peak: number } {
  const status = readFileSync(`/proc/${pid}/status`, 'utf8')
  const field = (name: string) =>
    Number(status.match(new RegExp(`^${name}:\\s+(\\d+) kB`, 'm'))?.[1]) * 1024
  return { resident: field('VmRSS'), anonymous: field('RssAnon'), peak: field('VmHWM') }
}

export function openFiles(pid: number): number {
  return readdirSync(`/proc/${pid}/fd`).length
}
