import { readdirSync, readFileSync } from 'node:fs'

const megabyte = 1024 * 1024

/** Megabytes that a process holds of its own; the pages of its executable can be had again. */
export function ownMemory(pid: number): number {
  const status = readFileSync(`/proc/${pid}/status`, 'utf8')
  return (Number(/^RssAnon:\s+(\d+)/m.exec(status)?.[1] ?? '0') * 1024) / megabyte
}

export function openFiles(pid: number): number {
  return readdirSync(`/proc/${pid}/fd`).length
}

export interface Watch {
  peak: () => number
  stop: () => void
}

export function watchMemory(pid: number): Watch {
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
