// Commands beside the daemon, on a disk that is full or fails.
import { Database } from 'bun:sqlite'
import { mkdirSync, readdirSync, statSync, truncateSync, writeFileSync } from 'node:fs'
import { dirname, join } from 'node:path'
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

/** Runs a command that ends by itself. */
async function end(database: string, command: string, words: string[], wrap: string[] = []) {
  const run = launch(database, { command, words, wrap, env: { TMPDIR: dirname(database) } })
  const code = await Promise.race([run.exited, Bun.sleep(10_000)])
  if (code !== undefined) await run.finished
  return { command, code, stderr: run.err() }
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
  if (!/^plantstore: cannot write .*(copy.ndjson|plants.db): .+\n$/.test(run.err())) {
    problems.push(`${command} says ${JSON.stringify(run.err())}`)
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
      if (!/^created database .+\nplantstore: cannot write to the database.+\n$/.test(run.err())) {
        problems.push(`it says ${JSON.stringify(run.err())}`)
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
  {
    name: 'no-inodes',
    about:
      'files cannot be made though there is space, as the inodes are used up: one line says so',
    async run(folder) {
      await need('mount')
      const disk = join(folder, 'disk')
      mkdirSync(disk)
      const file = join(folder, 'plants.ndjson')
      const backup = join(folder, 'backup.db')
      const database = join(folder, 'plants.db')
      writeFileSync(file, '{"id":1,"name":"a"}\n')
      await end(database, 'import', [file])
      await end(database, 'backup', [backup])
      await mount(disk, '-t', 'tmpfs', '-o', 'nr_inodes=3', 'tmpfs')
      for (const name of ['a', 'b']) writeFileSync(join(disk, name), '')
      const runs = [
        await end(database, 'backup', [join(disk, 'copy.db')]),
        await end(database, 'export', [join(disk, 'copy.ndjson')]),
        await end(join(disk, 'plants.db'), 'restore', [backup]),
        await end(join(disk, 'plants.db'), 'import', [file]),
        await end(join(disk, 'plants.db'), 'serve', []),
      ]
      const problems = runs.flatMap(({ command, code, stderr }) =>
        code === 74 && /^plantstore: .+ no free inodes.*\n$/.test(stderr)
          ? []
          : [`${command}: exit code ${code}, says ${JSON.stringify(stderr)}`],
      )
      return { tried: this.about, many: `${runs.length} commands`, lost: '0 lost', problems }
    },
  },
  {
    name: 'no-flock',
    about: 'a file system without locks: one line says so, and what needs no lock works',
    async run(folder) {
      await need('strace')
      const file = join(folder, 'plants.ndjson')
      const backup = join(folder, 'backup.db')
      const database = join(folder, 'plants.db')
      writeFileSync(file, '{"id":1,"name":"a"}\n')
      await end(database, 'import', [file])
      const strace = ['strace', '-f', '-qq', '-o', '/dev/null', '-e', 'trace=flock']
      const wrap = [...strace, '-e', 'inject=flock:error=EOPNOTSUPP']
      const problems: string[] = []
      for (const [command, words] of [
        ['check', []],
        ['backup', [backup]],
        ['export', [join(folder, 'copy.ndjson')]],
      ] as const) {
        const { code, stderr } = await end(database, command, [...words], wrap)
        if (code !== 0) problems.push(`${command}: exit code ${code}, says ${stderr}`)
      }
      for (const [command, words] of [
        ['serve', []],
        ['import', [file]],
        ['restore', [backup]],
      ] as const) {
        const { code, stderr } = await end(database, command, [...words], wrap)
        if (code !== 74 || !/^plantstore: .+ does not support locks .+\n$/.test(stderr)) {
          problems.push(`${command}: exit code ${code}, says ${JSON.stringify(stderr)}`)
        }
      }
      return { tried: this.about, many: '6 commands', lost: '0 lost', problems }
    },
  },
]
