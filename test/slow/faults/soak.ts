// Kills, full disks and outages of the device by turns, under load, beneath one supervisor.
import { rmSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { type Supervised, serve, supervise } from './daemon.ts'
import { comesTrue, count, type Fault, tally } from './fault.ts'
import { fill } from './full-disk.ts'
import { mount, need, preload } from './lab.ts'
import { acknowledged, type Load, recovers, settle, startLoad } from './load.ts'
import { faultsOf, verify } from './verify.ts'

const ROUNDS = 10

type Blow = (scene: { service: Supervised; load: Load; folder: string }) => Promise<string[]>

const kill: Blow = async ({ service }) => {
  await service.replace((daemon) => daemon.kill())
  return []
}

const fillDisk: Blow = async ({ load, folder }) => {
  const refusals = () => load.errors.get(50701) ?? 0
  const before = refusals()
  const ballast = join(folder, 'ballast')
  fill(ballast)
  const isFull = await comesTrue(15_000, () => refusals() > before)
  await Bun.sleep(Math.random() * 500)
  rmSync(ballast)
  return isFull ? [] : ['no 50701']
}

let moments = 0

const loseDevice: Blow = async ({ service, folder }) => {
  const daemon = service.current()
  const gone = join(folder, 'gone')
  writeFileSync(gone, moments++ % 2 === 0 ? 'sync' : 'write')
  const hasEnded = await comesTrue(10_000, () => !daemon.alive())
  await Bun.sleep(Math.random() * 1000)
  rmSync(gone)
  return hasEnded ? [] : ['it did not end']
}

const blows = [kill, fillDisk, loseDevice]

export const soakFaults: Fault[] = [
  {
    name: 'soak',
    about: `${ROUNDS} kills, ${ROUNDS} full disks and ${ROUNDS} outages of the device by turns, under load`,
    async run(folder) {
      await need()
      await mount(folder, '-t', 'tmpfs', '-o', 'size=64m', 'tmpfs')
      const disk = join(folder, 'plants.db')
      const env = {
        LD_PRELOAD: await preload(folder, 'flaky'),
        FAULT_PREFIX: disk,
        FAULT_GONE: join(folder, 'gone'),
        PLANTSTORE_KEEP_CHANGES: '1d',
      }
      const problems: string[] = []
      // What was acknowledged is there before anything mends it.
      const look = () => problems.push(...faultsOf(verify(disk, load.ledger)))
      const service = await supervise(disk, { env }, { ended: look })
      const load = startLoad(service, { reconnect: true })
      const scene = { service, load, folder }
      for (let round = 0; round < ROUNDS; round++) {
        for (const blow of blows) {
          if (!(await acknowledged(load.ledger, 100, 15_000))) problems.push('it did not heal')
          problems.push(...(await blow(scene)))
        }
      }
      if (!(await acknowledged(load.ledger, 100, 15_000))) problems.push('it did not heal')
      await service.end((daemon) => daemon.kill())
      await load.stop()
      const unknown = tally(load.ledger).unknown
      problems.push(...service.problems, ...faultsOf(verify(disk, load.ledger)))
      const next = await serve(disk)
      await settle(next, load.ledger)
      if (!(await recovers(next, load.ledger, 5000))) problems.push('no creates after a restart')
      if ((await next.stop()) !== 0) problems.push('a bad exit code after SIGTERM')
      const verdict = verify(disk, load.ledger)
      problems.push(...faultsOf(verdict))
      const { stored, refused } = tally(load.ledger)
      return {
        tried: this.about,
        many: `${count(stored, 'plant')} acknowledged, ${refused} refused, ${unknown} unanswered, ${service.restarts()} restarts`,
        lost: `${verdict.lost} lost, ${verdict.returned} refused but stored`,
        problems,
      }
    },
  },
]
