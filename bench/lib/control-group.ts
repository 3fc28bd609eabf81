// A control group (cgroups(7)), which is what a container is to the kernel: it counts the memory that one is charged for.
import { existsSync, mkdirSync, readFileSync, rmdirSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import type { Command } from './processes.ts'

export type ControlGroup = {
  /** The same command, within the group. */
  within: (command: Command) => Command
  /** Bytes charged to it: its processes' own memory, and the pages of files that were read for them. */
  charged: () => number
  remove: () => void
}

const root = '/sys/fs/cgroup'

/** A new group; undefined where none may be made. */
export function controlGroup(): ControlGroup | undefined {
  const isUnified = existsSync(join(root, 'cgroup.controllers'))
  const group = join(root, isUnified ? '' : 'memory', `plantstore-bench-${Bun.nanoseconds()}`)
  try {
    if (isUnified) writeFileSync(join(root, 'cgroup.subtree_control'), '+memory')
    mkdirSync(group)
  } catch {
    return undefined
  }
  const usage = join(group, isUnified ? 'memory.current' : 'memory.usage_in_bytes')
  return {
    within: (command) => ({
      ...command,
      argv: ['sh', '-c', `echo $$ > ${group}/cgroup.procs && exec "$@"`, 'sh', ...command.argv],
    }),
    charged: () => Number(readFileSync(usage, 'utf8')),
    remove: () => rmdirSync(group),
  }
}
