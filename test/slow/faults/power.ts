import { join } from 'node:path'
import { control, type Start, serve } from './daemon.ts'
import { type Fault, Report } from './fault.ts'
import { attachLoop, mount, need, released, sh } from './lab.ts'
import { acknowledged, forgetLater, type Ledger, settle, startLoad } from './load.ts'
import { faultsOf, type Verdict, verify } from './verify.ts'

interface FileSystem {
  name: string
  size: string
  make: string[]
  /** True if a change log is kept: as of --keep-changes. */
  keepChanges: string
}

const fileSystems: FileSystem[] = [
  { name: 'ext4', size: '128M', make: ['mkfs.ext4', '-q'], keepChanges: '1d' },
  { name: 'xfs', size: '320M', make: ['mkfs.xfs', '-q'], keepChanges: 'off' },
]

const rounds = 8

/**
 * Cuts the power again and again: a file system that is shut down without flushing its log keeps
 * what was synced, and forgets what was in memory when it is mounted anew.
 */
async function outages(
  folder: string,
  on: FileSystem,
  start: Start,
  report = new Report(),
): Promise<Verdict[]> {
  const image = join(folder, `${Bun.nanoseconds()}.image`)
  await sh('truncate', '-s', on.size, image)
  await sh(...on.make, image)
  const { device } = await attachLoop(image)
  const disk = join(folder, `${Bun.nanoseconds()}`)
  const database = join(disk, 'plants.db')
  const ledger: Ledger = new Map()
  const verdicts: Verdict[] = []
  let unmount = await mount(disk, device)
  for (let round = 0; round < rounds; round++) {
    const daemon = await serve(database, start)
    await settle(daemon, ledger)
    const load = startLoad(daemon, { ledger })
    report.expect(await acknowledged(ledger, 50, 10_000), 'too slow')
    await Bun.sleep(Math.random() * 300)
    // An fsync in progress when ext4 or xfs is shut down may return 0 and have synced nothing.
    const forget = forgetLater(ledger)
    await sh('xfs_io', '-x', '-c', 'shutdown', disk)
    await Bun.sleep(200)
    // A commit that met the outage has ended it.
    const code = daemon.alive() ? 74 : await daemon.exited
    report.expect(code === 74, `it crashed with exit code ${code}`)
    await daemon.kill()
    await load.stop()
    forget()
    await unmount()
    await released(device)
    unmount = await mount(disk, device)
    verdicts.push(verify(database, ledger))
  }
  await unmount()
  return verdicts
}

async function powerLoss(folder: string, on: FileSystem, report: Report): Promise<void> {
  await need('losetup', 'xfs_io', on.make[0] ?? '')
  const env = { PLANTSTORE_KEEP_CHANGES: on.keepChanges }
  const real = await outages(folder, on, { env }, report)
  const lax = await outages(folder, on, { program: control('--synchronous', 'normal') })
  report.note(...real.flatMap(faultsOf))
  const isHurt = lax.some((verdict) => verdict.lost > 0)
  report.expect(isHurt, 'the control with synchronous=NORMAL lost nothing')
}

export const powerFaults: Fault[] = fileSystems.map((on) => ({
  name: `power-${on.name}`,
  about: `an ${on.name} that is shut down under load without a flush, and mounted again`,
  run: (folder, report) => powerLoss(folder, on, report),
}))
