// Whether one order of all operations explains what 64 clients of 20 plants were told, while the daemon is hurt.
import { join } from 'node:path'
import { type Daemon, type Start, serve } from './daemon.ts'
import { count, type Fault, type Outcome } from './fault.ts'
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
  const states = verdict.is === 'linearizable' ? verdict.mostStates : 0
  const unknown = operations.filter(({ outcome }) => outcome.is === 'unknown').length
  return {
    tried: about,
    many: `${count(operations.length, 'operation')}, ${refusals()} refused, ${unknown} unanswered`,
    lost: `${verdict.is} (at most ${count(states, 'state')}, ${Math.round(tookMs)} ms)`,
    problems: [...(problem === null ? [] : [problem]), ...strange],
  }
}

const kills = 5

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
]
