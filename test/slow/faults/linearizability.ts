// Checks that one order of all operations explains the answers to 64 clients of 20 plants, during faults of the daemon.
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { type Daemon, type Start, type Supervised, supervise } from './daemon.ts'
import { comesTrue, count, type Fault, type Outcome } from './fault.ts'
import { checkLog, falsify, followLog } from './feed.ts'
import { fill } from './full-disk.ts'
import { afflict } from './io-errors.ts'
import { mount, need, preload } from './lab.ts'
import { type LinearLoad, startLinearLoad } from './linear-load.ts'
import { isEnough, reportOn } from './linear-report.ts'
import { checkHistory } from './linearizable.ts'
import { health } from './load.ts'

interface Scene {
  database: string
  service: Supervised
  load: LinearLoad
  problems: string[]
}

type Hurt = (scene: Scene) => Promise<unknown>

/** Hurts a daemon under load; then it is killed, started again, and every plant is read. */
async function record(folder: string, hurt: Hurt, given: Start = {}): Promise<Scene> {
  const start = { ...given, env: { ...given.env, PLANTSTORE_KEEP_CHANGES: '1d' } }
  const database = join(folder, 'plants.db')
  const service = await supervise(database, start, {
    ended: (daemon) => load.processEnded(daemon),
    started: (daemon) => load.turnTo(daemon),
  })
  const load = startLinearLoad([service.current()])
  const log = start.program ? null : followLog(load.target)
  const scene: Scene = { database, service, load, problems: service.problems }
  await Bun.sleep(300)
  await hurt(scene)
  await load.finish()
  await service.replace((it) => it.kill())
  await load.readAll()
  const entries = (await log?.finish(service.current())) ?? []
  await service.end((it) => it.kill())
  scene.problems.push(...load.strange)
  if (log && log.resets() > 0) scene.problems.push('another log began')
  if (log) scene.problems.push(...log.problems, ...checkLog(entries, load.history.operations))
  for (const [how, wrong] of log ? falsify(entries) : []) {
    if (checkLog(wrong, load.history.operations).length === 0) {
      scene.problems.push(`a log with ${how} is taken for a right one`)
    }
  }
  return scene
}

async function underFault(
  folder: string,
  about: string,
  hurt: Hurt,
  start?: Start,
): Promise<Outcome> {
  // On a busy machine the faults are over before enough was done beside them.
  const hurtEnough: Hurt = async (scene) => {
    await hurt(scene)
    await comesTrue(15_000, () => isEnough(scene.load))
  }
  const { load, problems } = await record(folder, hurtEnough, start)
  return reportOn(about, load, problems)
}

const restartAgainAndAgain =
  (end: (daemon: Daemon) => Promise<unknown>): Hurt =>
  async ({ service }) => {
    for (let i = 0; i < 5; i++) {
      await Bun.sleep(300 + Math.random() * 400)
      await service.replace(end)
    }
  }

/** Waits until changes are made again. */
async function waitForChanges({ load, problems }: Scene): Promise<void> {
  const changes = load.changes()
  if (!(await comesTrue(15_000, () => load.changes() > changes + 100)))
    problems.push('it did not heal')
  await Bun.sleep(300)
}

/** Hurts it until it refuses changes, for a while more, and until changes are made again. */
async function refuseOnce(
  scene: Scene,
  begin: () => unknown,
  end: () => unknown,
  ms: number,
): Promise<void> {
  const { load, service, problems } = scene
  const refusals = load.refusals()
  const shows = async () => load.refusals() > refusals || (await health(service)) >= 500
  await begin()
  if (!(await comesTrue(5000, shows))) problems.push('it was not hurt')
  await Bun.sleep(ms)
  await end()
  await waitForChanges(scene)
}

/** Hurts it until it ends, and until the next one makes changes. */
async function endOnce(scene: Scene, begin: (daemon: Daemon) => unknown, end: () => unknown) {
  const daemon = scene.service.current()
  await begin(daemon)
  if (!(await comesTrue(10_000, () => !daemon.alive()))) scene.problems.push('it was not hurt')
  await Bun.sleep(Math.random() * 1000)
  await end()
  await waitForChanges(scene)
}

const slowSyncs: Hurt = async ({ service, database, load }) => {
  const inject = 'fsync,fdatasync:delay_enter=50000'
  const heal = await afflict(service.current(), database, { where: 'all', inject })
  await Bun.sleep(3000)
  // On a busy machine that is too short to show much.
  await comesTrue(15_000, () => isEnough(load))
  await heal()
}

const failOften =
  (...injections: string[]): Hurt =>
  async (scene) => {
    for (const inject of injections) {
      let heal = async () => {}
      const begin = async (daemon: Daemon) => {
        heal = await afflict(daemon, scene.database, { where: 'all', inject })
      }
      await endOnce(scene, begin, () => heal())
    }
  }

/** A full disk hurts only while the log still grows: after that ENOSPC is injected. */
const fillDisk =
  (ballast: string): Hurt =>
  async (scene) => {
    await refuseOnce(
      scene,
      () => fill(ballast),
      () => rmSync(ballast),
      300,
    )
    for (let round = 0; round < 2; round++) {
      let heal = async () => {}
      const begin = async () => {
        const inject = 'pwrite64:error=ENOSPC'
        heal = await afflict(scene.service.current(), scene.database, { where: 'all', inject })
      }
      await refuseOnce(scene, begin, () => heal(), Math.random() * 300)
    }
  }

/** The device goes away between the writes of a commit and their sync, or in the midst of the writes. */
const loseDevice =
  (gone: string): Hurt =>
  async (scene) => {
    for (const moment of ['sync', 'sync', 'sync', 'write']) {
      await endOnce(
        scene,
        () => writeFileSync(gone, moment),
        () => rmSync(gone),
      )
    }
  }

const promises = [
  'durability',
  'fresh-reads',
  'atomicity',
  'whole-batches',
  'refusals',
  'conditions',
  'patches',
  'puts',
  'deletes',
]

/** A server that breaks a promise is found out, and the same server without that is not. */
async function findOut(folder: string, about: string): Promise<Outcome> {
  const wrong: string[] = []
  // On a busy machine a while is too short to show much.
  const killOnce: Hurt = async ({ load, service }) => {
    await comesTrue(10_000, () => load.changes() >= 1000)
    await service.replace((daemon) => daemon.kill())
  }
  const control = [process.execPath, join(import.meta.dir, 'linear-control.ts'), '--breaks']
  const verdictOn = async (breaks: string): Promise<string> => {
    const apart = mkdtempSync(join(folder, breaks))
    const { load, problems } = await record(apart, killOnce, { program: [...control, breaks] })
    wrong.push(...problems)
    return checkHistory(load.history.operations).is
  }
  const none = await verdictOn('nothing')
  if (none !== 'linearizable') wrong.push(`it broke nothing: ${none}`)
  for (const breaks of promises) {
    const verdicts: string[] = []
    // By chance a load may not meet what is broken.
    while (verdicts.length < 3 && !verdicts.includes('violated')) {
      verdicts.push(await verdictOn(breaks))
    }
    if (!verdicts.includes('violated')) wrong.push(`it broke ${breaks}: ${verdicts.join(', ')}`)
  }
  return {
    tried: about,
    many: count(promises.length, 'promise'),
    lost: 'each one broken alone, and none',
    problems: wrong,
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
      const kills = restartAgainAndAgain((daemon) => daemon.kill())
      return underFault(folder, this.about, kills)
    },
  },
  {
    name: 'linear-sigterm',
    about: `${explained}: SIGTERM`,
    run(folder) {
      const stops = restartAgainAndAgain((daemon) => daemon.stop())
      return underFault(folder, this.about, stops)
    },
  },
  {
    name: 'linear-slow-fsync',
    about: `${explained}: each fsync takes 50 ms more`,
    async run(folder) {
      await need('strace')
      return underFault(folder, this.about, slowSyncs)
    },
  },
  {
    name: 'linear-eio',
    about: `${explained}: fsync or pwrite64 fails with EIO for a while`,
    async run(folder) {
      await need('strace')
      const syncs = 'fsync,fdatasync:error=EIO'
      return underFault(folder, this.about, failOften(syncs, 'pwrite64:error=EIO', syncs))
    },
  },
  {
    name: 'linear-full',
    about: `${explained}: a full disk, and space again`,
    async run(folder) {
      await need('strace')
      await mount(folder, '-t', 'tmpfs', '-o', 'size=24m', 'tmpfs')
      return underFault(folder, this.about, fillDisk(join(folder, 'ballast')))
    },
  },
  {
    name: 'linear-device',
    about: `${explained}: the device goes away and comes back`,
    async run(folder) {
      const gone = join(folder, 'gone')
      const env = {
        LD_PRELOAD: await preload(folder, 'flaky'),
        FAULT_PREFIX: join(folder, 'plants.db'),
        FAULT_GONE: gone,
      }
      return underFault(folder, this.about, loseDevice(gone), { env })
    },
  },
]
