// Commands on files that are longer than the memory they may use.
import { closeSync, openSync, statSync, writeSync } from 'node:fs'
import { join } from 'node:path'
import { memoryLimit } from './cgroup.ts'
import { launch } from './daemon.ts'
import { count, type Fault } from './fault.ts'
import { megabytes } from './pressure.ts'
import { watchMemory } from './process.ts'

const PLANTS = 1_000_000
const AT_ONCE = 10_000
const NAME = 'x'.repeat(250)

/** Writes plants to a file, some at a time; returns its length in bytes. */
function writePlants(path: string, header: string, line: (id: number) => string): number {
  const fd = openSync(path, 'w')
  writeSync(fd, header)
  for (let from = 0; from < PLANTS; from += AT_ONCE) {
    writeSync(fd, Array.from({ length: AT_ONCE }, (_, at) => line(from + at)).join(''))
  }
  closeSync(fd)
  return statSync(path).size
}

export const longFileFaults: Fault[] = [
  {
    name: 'memory-commands',
    about: 'imports, an export, a backup and a check of a million plants in files of 270 MB',
    async run(folder) {
      const at = (name: string) => join(folder, name)
      const problems: string[] = []
      const ndjson = writePlants(at('plants.ndjson'), '', (id) => `{"id":${id},"name":"${NAME}"}\n`)
      const csv = writePlants(at('plants.csv'), 'id,name\n', (id) => `${id},${NAME}\n`)
      let most = 0

      async function run(command: string, ...words: string[]): Promise<void> {
        const limit = memoryLimit(megabytes)
        const child = launch(at('plants.db'), { command, words, wrap: limit?.wrap ?? [] })
        const memory = watchMemory(child.pid)
        const code = await child.exited
        memory.stop()
        most = Math.max(most, memory.peak())
        if (code !== 0) problems.push(`${command}: exit code ${code}, says ${child.stderr()}`)
        if (memory.peak() > megabytes) problems.push(`${command} took ${memory.peak()} MB`)
      }

      await run('import', at('plants.ndjson'))
      // All of them are stored already.
      await run('import', at('plants.csv'))
      await run('export', at('copy.ndjson'))
      await run('backup', at('copy.db'))
      await run('check')
      if (statSync(at('copy.ndjson')).size !== ndjson) problems.push('the export is not whole')
      return {
        tried: this.about,
        many: `${count(PLANTS, 'plant')}, ${Math.round((ndjson + csv) / 1e6)} MB`,
        lost: `own memory at most ${most} MB`,
        problems,
      }
    },
  },
]
