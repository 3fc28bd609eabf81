// Checks that one order of all operations explains the answers to 64 clients of 20 plants, during faults of the daemon.
import { rmSync } from 'node:fs'
import { join } from 'node:path'
import { type Daemon, type Supervised, supervise } from './daemon.ts'
import { comesTrue, type Fault, type Report } from './fault.ts'
import { followLog, judgeLog } from './feed.ts'
import { fill } from './full-disk.ts'
import { afflict } from './io-errors.ts'
import { mount, need } from './lab.ts'
import { type LinearLoad, startLinearLoad } from './linear-load.ts'
import { isEnough, reportOn } from './linear-report.ts'
import { health } from './load.ts'

interface Scene {
  folder: string
  database: string
  service: Supervised
  load: LinearLoad
  report: Report
}

type Hurt = (scene: Scene) => Promise<unknown>

/** Hurts a daemon under load; then it is killed, started again, and every plant is read. */
async function record(folder: string, hurt: Hurt, report: Report): Promise<void> {
  const start = { env: { PLANTSTORE_KEEP_CHANGES: '1d' } }
  const database = join(folder, 'plants.db')
  const service = await supervise(database, start, {
    ended: (daemon) => load.processEnded(daemon),
    started: (daemon) => load.turnTo(daemon),
  })
  const load = startLinearLoad([service.current()])
  const log = followLog(load.target, report)
  await Bun.sleep(300)
  await hurt({ folder, database, service, load, report })
  await load.finish()
  await service.replace((it) => it.kill())
  await load.readAll()
  const entries = await log.finish(service.current())
  await service.end((it) => it.kill())
  report.note(...service.problems, ...load.strange)
  judgeLog(entries, load.history.operations, report)
  report.expect(log.resets() === 0, 'another log began')
  reportOn(load, report)
}

const restartOften =
  (end: (daemon: Daemon) => Promise<unknown>): Hurt =>
  async ({ service }) => {
    for (let i = 0; i < 5; i++) {
      await Bun.sleep(300 + Math.random() * 400)
      await service.replace(end)
    }
  }

/** Waits until changes are made again. */
async function waitForChanges({ load, report }: Scene): Promise<void> {
  const changes = load.changes()
  await report.expectSoon(15_000, () => load.changes() > changes + 100, 'it did not heal')
  await Bun.sleep(300)
}

const slowSyncs: Hurt = async ({ service, database, load }) => {
  const inject = 'fsync,fdatasync:delay_enter=50000'
  const heal = await afflict(service.current(), database, { files: 'all', inject })
  await Bun.sleep(3000)
  // On a busy machine that is too short to show much.
  await comesTrue(15_000, () => isEnough(load))
  await heal()
}

/** Fails writes and syncs until the daemon ends; the next one makes changes. */
const failOften: Hurt = async (scene) => {
  for (const calls of ['fsync,fdatasync', 'pwrite64', 'fsync,fdatasync']) {
    const daemon = scene.service.current()
    const inject = `${calls}:error=EIO`
    const heal = await afflict(daemon, scene.database, { files: 'all', inject })
    await scene.report.expectSoon(10_000, () => !daemon.alive(), 'it was not hurt')
    await Bun.sleep(Math.random() * 1000)
    await heal()
    await waitForChanges(scene)
  }
}

/** A full disk hurts only while the log still grows: after that ENOSPC is injected. */
const fillDisk: Hurt = async (scene) => {
  const { folder, database, load, service, report } = scene
  const ballast = join(folder, 'ballast')
  const fillUp = () => {
    fill(ballast)
    return () => rmSync(ballast)
  }
  const inject = () =>
    afflict(service.current(), database, { files: 'all', inject: 'pwrite64:error=ENOSPC' })
  for (const begin of [fillUp, inject, inject]) {
    const refusals = load.refusals()
    const end = await begin()
    const shows = async () => load.refusals() > refusals || (await health(service)) >= 500
    await report.expectSoon(5000, shows, 'it was not hurt')
    await Bun.sleep(Math.random() * 300)
    await end()
    await waitForChanges(scene)
  }
}

const underFault = (name: string, what: string, hurt: Hurt): Fault => ({
  name: `linear-${name}`,
  about: `one order of all operations explains every answer: ${what}`,
  async run(folder, report) {
    await need('strace')
    if (hurt === fillDisk) await mount(folder, '-t', 'tmpfs', '-o', 'size=24m', 'tmpfs')
    // On a busy machine the faults are over before enough was done beside them.
    const hurtEnough: Hurt = async (scene) => {
      await hurt(scene)
      await comesTrue(15_000, () => isEnough(scene.load))
    }
    await record(folder, hurtEnough, report)
  },
})

export const linearizabilityFaults: Fault[] = [
  underFault(
    'kill',
    'kill -9',
    restartOften((daemon) => daemon.kill()),
  ),
  underFault(
    'sigterm',
    'SIGTERM',
    restartOften((daemon) => daemon.stop()),
  ),
  underFault('slow-fsync', 'each fsync takes 50 ms more', slowSyncs),
  underFault('eio', 'fsync or pwrite64 fails with EIO', failOften),
  underFault('full', 'a full disk, and space again', fillDisk),
]
