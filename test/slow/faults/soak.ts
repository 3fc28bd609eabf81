// Kills, full disks and outages of the device by turns, under load, beneath one supervisor.
import { rmSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { type Supervised, supervise } from './daemon.ts'
import type { Fault, Report } from './fault.ts'
import { fill } from './full-disk.ts'
import { mount, need, preload } from './lab.ts'
import { acknowledged, type Load, startLoad } from './load.ts'
import { faultsOf, startAgain, verify } from './verify.ts'

const ROUNDS = 10

type Scene = { service: Supervised; load: Load; folder: string; report: Report }

const kill = ({ service }: Scene) => service.replace((daemon) => daemon.kill())

async function fillDisk({ load, folder, report }: Scene): Promise<void> {
  const refusals = () => load.errors.get(50701) ?? 0
  const before = refusals()
  const ballast = join(folder, 'ballast')
  fill(ballast)
  await report.expectSoon(15_000, () => refusals() > before, 'no 50701')
  await Bun.sleep(Math.random() * 500)
  rmSync(ballast)
}

let moments = 0

/** The device goes away in a sync or a write, and may still be gone when the daemon is started again. */
async function loseDevice({ service, folder, report }: Scene): Promise<void> {
  const daemon = service.current()
  const gone = join(folder, 'gone')
  writeFileSync(gone, moments++ % 2 === 0 ? 'sync' : 'write')
  await report.expectSoon(10_000, () => !daemon.alive(), 'it did not end')
  await Bun.sleep(Math.random() * 1000)
  rmSync(gone)
}

const blows = [kill, fillDisk, loseDevice]

export const soakFaults: Fault[] = [
  {
    name: 'soak',
    about: `${ROUNDS} kills, ${ROUNDS} full disks and ${ROUNDS} outages of the device by turns, under load`,
    async run(folder, report) {
      await need()
      await mount(folder, '-t', 'tmpfs', '-o', 'size=64m', 'tmpfs')
      const disk = join(folder, 'plants.db')
      const env = {
        LD_PRELOAD: await preload(folder, 'flaky'),
        FAULT_PREFIX: disk,
        FAULT_GONE: join(folder, 'gone'),
        PLANTSTORE_KEEP_CHANGES: '1d',
      }
      // What was acknowledged is there before anything mends it.
      const look = () => report.note(...faultsOf(verify(disk, load.ledger)))
      const service = await supervise(disk, { env }, { ended: look })
      const load = startLoad(service, { reconnect: true })
      const heals = async () =>
        report.expect(await acknowledged(load.ledger, 100, 15_000), 'it did not heal')
      for (let round = 0; round < ROUNDS; round++) {
        for (const strike of blows) {
          await heals()
          await strike({ service, load, folder, report })
        }
      }
      await heals()
      await service.end((daemon) => daemon.kill())
      await load.stop()
      report.note(...service.problems)
      look()
      await startAgain(disk, load.ledger, report)
    },
  },
]
