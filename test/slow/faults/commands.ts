// Commands on a disk that fails.
import { mkdirSync, readdirSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { storedPlants } from '../../harness/plants.ts'
import { inTime } from '../../harness/until.ts'
import { launch, serve } from './daemon.ts'
import type { Fault, Report } from './fault.ts'
import { need } from './lab.ts'
import { acknowledged, startLoad } from './load.ts'
import { endWell } from './verify.ts'

const LONGEST_MS = 30_000

/** Runs a command to its end, and expects an exit code and what it prints. */
async function expectEnd(
  report: Report,
  [database, command, ...words]: readonly [database: string, command: string, ...words: string[]],
  [code, line]: readonly [code: number, line: RegExp],
  wrap: string[] = [],
): Promise<void> {
  const run = launch(database, { command, words, wrap })
  const found = await inTime(() => `the end of ${command}`, run.finished, LONGEST_MS)
  const isRight = found === code && line.test(run.err())
  report.expect(isRight, `${command}: exit code ${found}, says ${JSON.stringify(run.err())}`)
}

const DONE = [0, /^/] as const

/** A prefix that makes a system call fail. */
const failing = (call: string, error: string, ...paths: string[]) =>
  ['strace', '-f', '-qq', '-o', '/dev/null', ...paths].concat([
    '-e',
    `trace=${call}`,
    '-e',
    `inject=${call}:error=${error}`,
  ])

export const commandFaults: Fault[] = [
  {
    name: 'copy-eio',
    about: 'backup and export onto a disk whose fsync fails: one line, no file',
    async run(folder, report) {
      await need('strace')
      const copies = join(folder, 'copies')
      mkdirSync(copies)
      const database = join(folder, 'plants.db')
      const daemon = await serve(database)
      const load = startLoad(daemon)
      await acknowledged(load.ledger, 2000, 10_000)
      const refusal = [74, /^plantstore: cannot write .*(copy.ndjson|plants.db): .+\n$/] as const
      for (const command of ['backup', 'export']) {
        const words = [database, command, join(copies, 'copy.ndjson')] as const
        await expectEnd(report, words, refusal, failing('fsync', 'EIO'))
        const left = readdirSync(copies)
        report.expect(left.length === 0, `${command} leaves ${left.join(', ')}`)
      }
      await load.stop()
      await endWell(daemon, database, load.ledger, report)
    },
  },
  {
    name: 'import-eio',
    about: 'an import whose disk fails for good: one line, and exit code 74',
    async run(folder, report) {
      await need('strace')
      const file = join(folder, 'plants.ndjson')
      const database = join(folder, 'plants.db')
      const plants = 50_000
      const lines = Array.from({ length: plants }, (_, id) => `{"id":${id},"name":"a"}\n`)
      writeFileSync(file, lines.join(''))
      const line = /^created database .+\nplantstore: cannot write to the database.+\n$/
      const wrap = failing('fsync', 'EIO', '-P', `${database}-wal`)
      await expectEnd(report, [database, 'import', file], [74, line], wrap)
      await expectEnd(report, [database, 'import', file], DONE)
      const stored = storedPlants(database).length
      report.expect(stored === plants, `${stored} plants in the end`)
    },
  },
  {
    name: 'no-flock',
    about: 'a file system without locks: one line says so, and what needs no lock works',
    async run(folder, report) {
      await need('strace')
      const at = (name: string) => join(folder, name)
      const [database, file, backup] = [at('plants.db'), at('plants.ndjson'), at('backup.db')]
      writeFileSync(file, '{"id":1,"name":"a"}\n')
      await expectEnd(report, [database, 'import', file], DONE)
      await expectEnd(report, [database, 'backup', backup], DONE)
      const refusal = [74, /^plantstore: .+ does not support locks .+\n$/] as const
      for (const [end, ...words] of [
        [DONE, 'check'],
        [DONE, 'backup', at('copy.db')],
        [DONE, 'export', at('copy.ndjson')],
        [refusal, 'serve'],
        [refusal, 'import', file],
        [refusal, 'restore', backup],
      ] as const) {
        await expectEnd(report, [database, ...words], end, failing('flock', 'EOPNOTSUPP'))
      }
    },
  },
]
