// Commands beside the daemon, on a disk that is full or fails.
import { Database } from 'bun:sqlite'
import { mkdirSync, readdirSync, statSync, truncateSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { launch, serve } from './daemon.ts'
import { count, type Fault } from './fault.ts'
import { fill } from './full-disk.ts'
import { mount, need } from './lab.ts'
import { acknowledged, startLoad } from './load.ts'
import { faultsOf, verify } from './verify.ts'

function countPlants(database: string): number {
  const db = new Database(database)
  try {
    return db.query<{ n: number }, []>('SELECT count(*) AS n FROM plants').get()?.n ?? 0
  } finally {
    db.close(true)
  }
}

/** Makes a copy of a database where that fails; returns what is wrong with how it ends. */
async function failingCopy(
  database: string,
  folder: string,
  command: string,
  wrap: string[],
): Promise<string[]> {
  const words = [join(folder, 'copy.ndjson')]
  const run = launch(database, { command, words, wrap })
  const code = await run.exited
  await run.finished
  const problems: string[] = []
  if (code !== 74) problems.push(`${command}: exit code ${code}, not 74`)
  if (!/^plantstore: .*(copy.ndjson|plants.db) cannot be written: .+\n$/.test(run.stderr())) {
    problems.push(`${command} says ${JSON.stringify(run.stderr())}`)
  }
  const left = readdirSync(folder).filter((name) => name !== 'ballast')
  if (left.length > 0) problems.push(`${command} leaves ${left.join(', ')}`)
  return problems
}

export const commandFaults: Fault[] = [
  {
    name: 'full-copies',
    about: 'backup and export onto a full disk, and onto one whose fsync fails: one line, no file',
    async run(folder) {
      await need('strace')
      const disk = join(folder, 'disk')
      mkdirSync(disk)
      await mount(disk, '-t', 'tmpfs', '-o', 'size=1m', 'tmpfs')
      const copies = join(folder, 'copies')
      mkdirSync(copies)
      const database = join(folder, 'plants.db')
      const daemon = await serve(database)
      const load = startLoad(daemon)
      await acknowledged(load.ledger, 2000, 10_000)
      const ballast = join(disk, 'ballast')
      const strace = ['strace', '-f', '-o', '/dev/null', '-e', 'trace=fsync']
      const failing = [...strace, '-e', 'inject=fsync:error=EIO']
      const problems: string[] = []
      for (const command of ['backup', 'export']) {
        // Full from the start, and full before the copy is whole.
        for (const room of [0, 32_768]) {
          fill(ballast)
          truncateSync(ballast, statSync(ballast).size - room)
          problems.push(...(await failingCopy(database, disk, command, [])))
        }
        problems.push(...(await failingCopy(database, copies, command, failing)))
      }
      await load.stop()
      if ((await daemon.stop()) !== 0) problems.push('a bad exit code after SIGTERM')
      const verdict = verify(database, load.ledger)
      problems.push(...faultsOf(verdict))
      return {
        tried: this.about,
        many: `6 copies beside ${count(load.ledger.size, 'create')}`,
        lost: `${verdict.lost} lost`,
        problems,
      }
    },
  },
  {
    name: 'import-eio',
    about: 'an import whose disk fails for good: one line, and exit code 74',
    async run(folder) {
      await need('strace')
      const file = join(folder, 'plants.ndjson')
      const database = join(folder, 'plants.db')
      const plants = 50_000
      writeFileSync(
        file,
        Array.from({ length: plants }, (_, id) => `{"id":${id},"name":"a"}\n`).join(''),
      )
      const log = ['-P', `${database}-wal`]
      const inject = ['-e', 'trace=fsync', '-e', 'inject=fsync:error=EIO']
      const wrap = ['strace', '-f', '-qq', '-o', '/dev/null', ...log, ...inject]
      const run = launch(database, { command: 'import', words: [file], wrap })
      const code = await Promise.race([run.exited, Bun.sleep(20_000)])
      const problems: string[] = []
      if (code !== 74) problems.push(`exit code ${code ?? 'none yet'}, not 74`)
      if (!/^plantstore: cannot write to the database.+\n$/.test(run.stderr())) {
        problems.push(`it says ${JSON.stringify(run.stderr())}`)
      }
      const again = launch(database, { command: 'import', words: [file] })
      if ((await again.exited) !== 0) problems.push('it cannot be run again')
      const stored = countPlants(database)
      if (stored !== plants) problems.push(`${stored} plants in the end`)
      return {
        tried: this.about,
        many: `${plants} plants`,
        lost: `${plants - stored} lost`,
        problems,
      }
    },
  },
]
