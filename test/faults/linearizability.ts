// Whether one order of all operations explains what 64 clients of 20 plants were told, while the daemon is hurt.
import { mkdirSync, rmSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { type Daemon, type Start, serve } from './daemon.ts'
import { count, type Fault, type Outcome, until } from './fault.ts'
import { fill } from './full-disk.ts'
import { afflict } from './io-errors.ts'
import { mount, need, preload } from './lab.ts'
import { type LinearLoad, startLinearLoad } from './linear-load.ts'
import { checkHistory, explainVerdict } from './linearizable.ts'

interface Scene {
  database: string
  daemon: Daemon
  load: LinearLoad
  /** Ends the daemon, and starts another on its database. */
  restart: (end: (daemon: Daemon) => Promise<unknown>) => Promise<void>
}

type Hurt = (scene: Scene) => Promise<unknown>

/** Hurts a daemon under load; then it is killed, started again, and every plant is read. */
async function record(folder: string, hurt: Hurt, start: Start = {}): Promise<LinearLoad> {
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
  return load
}

async function underFault(folder: string, about: string, hurt: Hurt, start?: Start) {
  return judge(await record(folder, hurt, start), about)
}

function judge({ history, strange, refusals }: LinearLoad, about: string): Outcome {
  const { operations } = history
  const began = performance.now()
  const verdict = checkHistory(operations)
  const tookMs = performance.now() - began
  const problem = explainVerdict(verdict, operations)
  const states = verdict.is === 'linearizable' ? `${count(verdict.states, 'state')}, ` : ''
  const unknown = operations.filter(({ outcome }) => outcome.is === 'unknown').length
  return {
    tried: about,
    many: `${count(operations.length, 'operation')}, ${refusals()} refused, ${unknown} unanswered`,
    lost: `${verdict.is} (${states}${Math.round(tookMs)} ms)`,
    problems: [...(problem === null ? [] : [problem]), ...strange],
  }
}

const restarts = 5
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
  const hurt = async ({ daemon }: Scene) => {
    const times = (event: string) => daemon.stderr().split(`"${event}"`).length - 1
    for (let i = 0; i < losses; i++) {
      writeFileSync(gone, i % 4 === 3 ? 'write' : 'sync')
      await Bun.sleep(GONE_MS)
      rmSync(gone)
      const isBack = () => times('storage-recovered') > i
      if (!(await until(10_000, isBack))) unhurt.push('it did not recover')
      // Every client may wait in the batch in doubt: then none is refused.
      if (times('storage-failed') <= i) unhurt.push('the daemon did not notice')
      await Bun.sleep(300)
    }
  }
  const outcome = await underFault(folder, about, hurt, { env })
  return { ...outcome, problems: [...outcome.problems, ...unhurt] }
}

/** A system call fails again and again, for a while each time. */
async function failInBursts(folder: string, about: string): Promise<Outcome> {
  await need('strace')
  const calls = ['fsync,fdatasync', 'pwrite64', 'fsync,fdatasync']
  return underFault(folder, about, async ({ daemon, database, load }) => {
    for (const call of calls) {
      const before = load.refusals()
      const inject = `${call}:error=EIO`
      const heal = await afflict(daemon, database, { where: 'all', inject })
      await until(5000, () => load.refusals() > before)
      await Bun.sleep(Math.random() * 300)
      await heal()
      await Bun.sleep(1500)
    }
  })
}

async function fillDisk(folder: string, about: string): Promise<Outcome> {
  await need()
  await mount(folder, '-t', 'tmpfs', '-o', 'size=24m', 'tmpfs')
  const ballast = join(folder, 'ballast')
  return underFault(folder, about, async ({ load }) => {
    for (let i = 0; i < 4; i++) {
      const before = load.refusals()
      fill(ballast)
      await until(5000, () => load.refusals() > before)
      await Bun.sleep(300)
      rmSync(ballast)
      await Bun.sleep(500)
    }
  })
}

const promises = ['durability', 'fresh-reads', 'atomicity', 'whole-batches', 'refusals']

/** A server that breaks a promise is found out, and the same server without that is not. */
async function findOut(folder: string, about: string): Promise<Outcome> {
  const problems: string[] = []
  let operations = 0
  for (const breaks of ['nothing', ...promises]) {
    const program = [process.execPath, join(import.meta.dir, 'linear-control.ts')]
    const apart = join(folder, breaks)
    mkdirSync(apart)
    const killOnce: Hurt = ({ restart }) => restart((daemon) => daemon.kill())
    const load = await record(apart, killOnce, { program: [...program, '--breaks', breaks] })
    operations += load.history.operations.length
    const { problems: found } = judge(load, about)
    if (breaks === 'nothing') problems.push(...found)
    else if (found.length === 0) problems.push(`it broke ${breaks}, and was not found out`)
  }
  return {
    tried: about,
    many: count(operations, 'operation'),
    lost: `${promises.length} promises broken`,
    problems,
  }
}

const explained = 'one order of all operations explains every answer'

export const linearizabilityFaults: Fault[] = [
  {
    name: 'linear-control',
    about: 'servers that break a promise are found out by their answers',
    run(folder) {
      return findOut(folder, this.about)
    },
  },
  {
    name: 'linear-plain',
    about: `${explained}: nothing fails`,
    run(folder) {
      return underFault(folder, this.about, () => Bun.sleep(3000))
    },
  },
  {
    name: 'linear-kill',
    about: `${explained}: kill -9`,
    run(folder) {
      return underFault(folder, this.about, async ({ restart }) => {
        for (let i = 0; i < restarts; i++) {
          await Bun.sleep(300 + Math.random() * 400)
          await restart((daemon) => daemon.kill())
        }
      })
    },
  },
  {
    name: 'linear-sigterm',
    about: `${explained}: SIGTERM`,
    run(folder) {
      return underFault(folder, this.about, async ({ restart }) => {
        for (let i = 0; i < restarts; i++) {
          await Bun.sleep(300 + Math.random() * 400)
          await restart((daemon) => daemon.stop())
        }
      })
    },
  },
  {
    name: 'linear-slow-fsync',
    about: `${explained}: each fsync takes 50 ms more`,
    async run(folder) {
      await need('strace')
      return underFault(folder, this.about, async ({ daemon, database }) => {
        const inject = 'fsync,fdatasync:delay_enter=50000'
        const heal = await afflict(daemon, database, { where: 'all', inject })
        await Bun.sleep(3000)
        await heal()
      })
    },
  },
  {
    name: 'linear-eio',
    about: `${explained}: fsync or pwrite64 fails with EIO for a while`,
    run(folder) {
      return failInBursts(folder, this.about)
    },
  },
  {
    name: 'linear-full',
    about: `${explained}: a full disk, and space again`,
    run(folder) {
      return fillDisk(folder, this.about)
    },
  },
  {
    name: 'linear-device',
    about: `${explained}: the device goes away and comes back`,
    run(folder) {
      return loseDevice(folder, this.about)
    },
  },
]
