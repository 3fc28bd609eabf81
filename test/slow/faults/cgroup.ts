// Control groups with a memory limit, of version 1 or 2.
import { existsSync, mkdirSync, readFileSync, rmdirSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { after } from './lab.ts'

const root = '/sys/fs/cgroup'

function readNumber(file: string, key: string): number {
  return Number(new RegExp(`^${key} (\\d+)`, 'm').exec(readFileSync(file, 'utf8'))?.[1] ?? '0')
}

function limitedGroup(parent: string, limitFile: string, eventsFile: string, megabytes: number) {
  const group = join(parent, `plantstore-faults-${process.pid}-${Bun.nanoseconds()}`)
  mkdirSync(group)
  after(async () => {
    for (let i = 0; i < 50 && existsSync(group); i++) {
      try {
        rmdirSync(group)
      } catch {
        // A killed process is still in it.
        await Bun.sleep(100)
      }
    }
  })
  writeFileSync(join(group, limitFile), `${megabytes * 1024 * 1024}`)
  const script = `echo $$ > ${group}/cgroup.procs && exec "$@"`
  return {
    /** A prefix of commands that runs them within the limit. */
    wrap: ['sh', '-c', script, 'sh'],
    /** Number of kills by the OOM killer. */
    kills: () => readNumber(join(group, eventsFile), 'oom_kill'),
  }
}

/** A control group with a memory limit; undefined if this machine permits none. */
export function memoryLimit(megabytes: number) {
  try {
    if (existsSync(join(root, 'cgroup.controllers'))) {
      writeFileSync(join(root, 'cgroup.subtree_control'), '+memory')
      return limitedGroup(root, 'memory.max', 'memory.events', megabytes)
    }
    const parent = join(root, 'memory')
    return limitedGroup(parent, 'memory.limit_in_bytes', 'memory.oom_control', megabytes)
  } catch {
    return undefined
  }
}
