import {
  closeSync,
  mkdirSync,
  openSync,
  readFileSync,
  rmSync,
  writeFileSync,
  writeSync,
} from 'node:fs'
import { basename, join } from 'node:path'
import { control, type Start, serve } from './daemon.ts'
import { apply, emptyDisk, filesAfterLoss, mark, markOf, type Step, stepsOf } from './disk-model.ts'
import { type Fault, Report } from './fault.ts'
import { preload } from './lab.ts'
import { type Ledger, startLoad } from './load.ts'
import { faultsOf, type Verdict, verify } from './verify.ts'

const cuts = 80
const plants = 2000
const withLog: Start = { env: { PLANTSTORE_KEEP_CHANGES: '1d' } }

interface Recording {
  steps: Step[]
  sent: number[]
}

/** One run of the program from its first start to its orderly end, as its disk saw it. */
async function record(folder: string, start: Start): Promise<Recording> {
  const log = join(folder, `${Bun.nanoseconds()}.log`)
  const database = join(folder, `${Bun.nanoseconds()}`, 'plants.db')
  mkdirSync(join(database, '..'))
  const marks = openSync(log, 'a')
  const daemon = await serve(database, {
    ...start,
    env: {
      ...start.env,
      LD_PRELOAD: await preload(folder, 'recorder'),
      FAULT_PREFIX: database,
      FAULT_LOG: log,
    },
  })
  const load = startLoad(daemon, {
    clients: 12,
    atMost: plants,
    onStored: (n) => writeSync(marks, mark(n)),
  })
  await load.ended
  await daemon.stop()
  closeSync(marks)
  return { steps: stepsOf(readFileSync(log)), sent: [...load.ledger.keys()] }
}

/** Cuts the power at random moments, and looks at what is left on the disk each time. */
async function replay(
  folder: string,
  { steps, sent }: Recording,
  start: Start,
  report = new Report(),
): Promise<Verdict[]> {
  const verdicts: Verdict[] = []
  const firstMark = steps.findIndex((step) => markOf(step) !== undefined)
  const moments = Array.from({ length: cuts }, (_, i) =>
    Math.floor(Math.random() * (i % 8 === 0 ? firstMark : steps.length)),
  ).sort((a, b) => a - b)
  const disk = emptyDisk()
  const ledger: Ledger = new Map(sent.map((n) => [n, { fate: 'unknown', error: 0 }]))
  let at = 0
  for (const [i, moment] of moments.entries()) {
    for (const step of steps.slice(at, moment)) {
      apply(disk, step)
      const n = markOf(step)
      if (n !== undefined) ledger.set(n, { fate: 'stored', error: 0 })
    }
    at = moment
    const left = join(folder, 'left')
    mkdirSync(left)
    for (const [name, content] of filesAfterLoss(disk))
      writeFileSync(join(left, basename(name)), content)
    const database = join(left, 'plants.db')
    // Before the first plant there need not be a table; later SQLite alone is the quicker judge.
    if (moment <= firstMark || i % 5 === 0) {
      const daemon = await serve(database, start)
      report.expect((await daemon.stop()) === 0, 'a bad exit code after SIGTERM')
    }
    verdicts.push(verify(database, ledger))
    rmSync(left, { recursive: true })
  }
  return verdicts
}

export const replayFaults: Fault[] = [
  {
    name: 'power-replay',
    about: 'the recorded writes cut off at random, sectors not synced dropped or torn',
    async run(folder, report) {
      const recording = await record(folder, withLog)
      const real = await replay(folder, recording, withLog, report)
      const laxStart: Start = { program: control('--synchronous', 'normal') }
      const lax = await replay(folder, await record(folder, laxStart), laxStart)
      report.note(...real.flatMap(faultsOf))
      const isHurt = lax.some((verdict) => verdict.lost > 0)
      report.expect(isHurt, 'the control with synchronous=NORMAL lost nothing')
    },
  },
]
