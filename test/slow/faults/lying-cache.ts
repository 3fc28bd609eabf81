import { existsSync, rmSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { control, type Program, plantstore, supervise } from './daemon.ts'
import { comesTrue, type Fault, Report } from './fault.ts'
import { after, attachLoop, mount, need, released, sh, startServer } from './lab.ts'
import { acknowledged, type Ledger, startLoad } from './load.ts'
import { faultsOf, type Verdict, verify } from './verify.ts'

/**
 * An ext4 whose data can be made to fail: the image is served by nbdkit with an error filter, and
 * comes back as a file by FUSE, since a loop device is everywhere and nbd is not. The journal is on
 * a disk that is well, else ext4 would turn read-only at the first error.
 */
async function failingDisk(folder: string, rate: string) {
  const trigger = join(folder, 'trigger')
  const socket = join(folder, 'socket')
  const fuse = join(folder, 'fuse')
  const disk = join(folder, 'disk')
  await sh('truncate', '-s', '64M', join(folder, 'data'))
  await sh('truncate', '-s', '8M', join(folder, 'journal'))
  const journal = await attachLoop(join(folder, 'journal'))
  await sh('mkfs.ext4', '-q', '-b', '4096', '-O', 'journal_dev', journal.device)
  await sh('mkfs.ext4', '-q', '-b', '4096', '-J', `device=${journal.device}`, join(folder, 'data'))

  const errors = ['error-pwrite=EIO', `error-pwrite-rate=${rate}`, `error-pwrite-file=${trigger}`]
  const data = join(folder, 'data')
  startServer('nbdkit', '-f', '-U', socket, '--filter=error', 'file', data, ...errors)
  const image = join(fuse, 'image')
  await sh('mkdir', fuse)
  await comesTrue(5000, () => existsSync(socket))
  startServer('nbdfuse', image, `nbd+unix:///?socket=${socket}`)
  after(() => sh('umount', '--lazy', fuse))
  await comesTrue(5000, () => existsSync(image))

  const { device } = await attachLoop(image)
  let unmount = await mount(disk, '-o', 'commit=300', device)
  return {
    disk,
    fail(failing: boolean): void {
      if (failing) writeFileSync(trigger, '')
      else rmSync(trigger)
    },
    async cutPower(): Promise<void> {
      await sh('xfs_io', '-x', '-c', 'shutdown', disk)
      await unmount()
      await released(device)
      unmount = await mount(disk, '-o', 'commit=300', device)
    },
  }
}

interface Suffering {
  rounds: number
  /** The part of the writes that fail. */
  rate: '100%' | '50%'
}

/**
 * Data writes fail; the daemon ends, and is started again until the disk works; the power goes. A control that lives on is
 * killed.
 */
async function suffer(
  folder: string,
  program: Program,
  { rounds, rate }: Suffering,
  report = new Report(),
) {
  await sh('mkdir', folder)
  const { disk, fail, cutPower } = await failingDisk(folder, rate)
  const database = join(disk, 'plants.db')
  const ledger: Ledger = new Map()
  const verdicts: Verdict[] = []
  for (let round = 0; round < rounds; round++) {
    const service = await supervise(database, { program })
    const load = startLoad(service, { ledger, reconnect: true })
    report.expect(await acknowledged(ledger, 200, 15_000), 'too slow')
    const daemon = service.current()
    fail(true)
    const isNoticed = () => !daemon.alive() || load.errors.size > 0
    await report.expectSoon(20_000, isNoticed, 'no error was noticed')
    await Bun.sleep(500)
    fail(false)
    if (program !== plantstore) await service.replace((it) => it.kill())
    else report.expect(!daemon.alive(), 'it did not end')
    report.expect(await acknowledged(ledger, 200, 10_000), 'it did not heal')
    await service.end((it) => it.kill())
    await load.stop()
    report.note(...service.problems)
    await cutPower()
    verdicts.push(verify(database, ledger))
    if (report.problems.length > 0 || verdicts.at(-1)?.integrity !== 'ok') break
  }
  return verdicts.flatMap(faultsOf)
}

const tools = ['nbdkit', 'nbdfuse', 'fusermount3', 'mkfs.ext4', 'losetup', 'xfs_io']

const CONTROL_TRIES = 4

// It is chance whether what fails is just what is trusted later: the control gets several tries to be hurt.
async function isControlHurt(folder: string, rounds: number): Promise<boolean> {
  const program = control('--trust-page-cache')
  for (let tries = 1; tries <= CONTROL_TRIES; tries++) {
    const at = join(folder, `control-${tries}`)
    if ((await suffer(at, program, { rounds, rate: '100%' })).length > 0) return true
  }
  return false
}

function lyingCache(name: string, about: string, suffering: Suffering): Fault {
  return {
    name,
    about,
    async run(folder, report) {
      await need(...tools)
      report.note(...(await suffer(join(folder, 'real'), plantstore, suffering, report)))
      const isHurt = await isControlHurt(folder, suffering.rounds)
      report.expect(isHurt, 'the control that trusts the page cache was not hurt')
    },
  }
}

export const lyingCacheFaults: Fault[] = [
  lyingCache(
    'lying-cache',
    'data writes fail for a while, it ends and is started again, the power goes',
    { rounds: 3, rate: '100%' },
  ),
  lyingCache(
    'lying-cache-partly',
    'half of the data writes fail for a while, it ends and is started again, the power goes',
    { rounds: 5, rate: '50%' },
  ),
]
