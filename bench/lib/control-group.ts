// A control group (cgroups(7)), as a container has: it counts the memory that is charged to it.
import { existsSync, mkdirSync, readFileSync, rmdirSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import type { Command } from './processes.ts'

type ControlGroup = {
  /** The same command, run in the group. */
  within: (command: Command) => Command
  /** Bytes charged: memory of its processes, and pages of the files that they read first. */
  charged: () => number
  remove: () => void
}

const root = '/sys/fs/cgroup'

/** A new group; undefined without the permission to make one. */
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
