// Whether one order of all operations explains what 64 clients of 20 plants were told, while the daemon is hurt.
import { rmSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { type Daemon, type Start, serve } from './daemon.ts'
import { count, type Fault, type Outcome, until } from './fault.ts'
import { preload } from './lab.ts'
import { type LinearLoad, startLinearLoad } from './linear-load.ts'
import { checkHistory, explainVerdict } from './linearizable.ts'

interface Scene {
  database: string
  daemon: Daemon
  load: LinearLoad
  /** Ends the daemon, and starts another on its database. */
  restart: (end: (daemon: Daemon) => Promise<unknown>) => Promise<void>
}

/** Hurts a daemon under load; then it is killed, started again, and every plant is read. */
async function underFault(
  folder: string,
  about: string,
  hurt: (scene: Scene) => Promise<unknown>,
  start: Start = {},
): Promise<Outcome> {
  const database = join(folder, 'plants.db')
  const daemon = await serve(database, start)
  const load = startLinearLoad(daemon)
  const scene: Scene = {
    database,
    daemon,
    load,
    async restart(end) {
      await end(scene.daemon)
      load.processEnded()
      scene.daemon = await serve(database, start)
      load.turnTo(scene.daemon)
    },
  }
  await Bun.sleep(300)
  await hurt(scene)
  await load.finish()
  await scene.restart((it) => it.kill())
  await load.readAll()
  await scene.daemon.kill()
  return judge(load, about)
}

function judge({ history, strange, refusals }: LinearLoad, about: string): Outcome {
  const { operations } = history
  const began = performance.now()
  const verdict = checkHistory(operations)
  const tookMs = performance.now() - began
  const problem = explainVerdict(verdict, operations)
  const states =
    verdict.is === 'linearizable' ? `at most ${count(verdict.mostStates, 'state')}, ` : ''
  const unknown = operations.filter(({ outcome }) => outcome.is === 'unknown').length
  return {
    tried: about,
    many: `${count(operations.length, 'operation')}, ${refusals()} refused, ${unknown} unanswered`,
    lost: `${verdict.is} (${states}${Math.round(tookMs)} ms)`,
    problems: [...(problem === null ? [] : [problem]), ...strange],
  }
}

const kills = 5
const losses = 4
// The daemon tries again each second.
const GONE_MS = 1300

/** The device goes away between the writes of a commit and their sync, or in the midst of the writes. */
async function loseDevice(folder: string, about: string): Promise<Outcome> {
  const gone = join(folder, 'gone')
  const env = {
    LD_PRELOAD: await preload(folder, 'flaky'),
    FAULT_PREFIX: join(folder, 'plants.db'),
    FAULT_GONE: gone,
  }
  const unhurt: string[] = []
  const hurt = async ({ load, daemon }: Scene) => {
    for (let i = 0; i < losses; i++) {
      const before = load.refusals()
      writeFileSync(gone, i % 4 === 3 ? 'write' : 'sync')
      await Bun.sleep(GONE_MS)
      rmSync(gone)
      const isBack = () => daemon.stderr().split('"storage-recovered"').length > i + 1
      if (!(await until(10_000, isBack))) unhurt.push('it did not recover')
      if (load.refusals() === before) unhurt.push('nothing was refused')
      await Bun.sleep(300)
    }
  }
  const outcome = await underFault(folder, about, hurt, { env })
  return { ...outcome, problems: [...outcome.problems, ...unhurt] }
}

export const linearizabilityFaults: Fault[] = [
  {
    name: 'linear-plain',
    about: 'every answer is explained by one order of all operations: nothing fails',
    run(folder) {
      return underFault(folder, this.about, () => Bun.sleep(3000))
    },
  },
  {
    name: 'linear-kill',
    about: 'every answer is explained by one order of all operations: kill -9',
    run(folder) {
      return underFault(folder, this.about, async ({ restart }) => {
        for (let i = 0; i < kills; i++) {
          await Bun.sleep(300 + Math.random() * 400)
          await restart((it) => it.kill())
        }
      })
    },
  },
  {
    name: 'linear-device',
    about:
      'every answer is explained by one order of all operations: the device goes and comes back',
    run(folder) {
      return loseDevice(folder, this.about)
    },
  },
]
