import { existsSync, rmSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { control, type Program, plantstore, serve } from './daemon.ts'
import { count, type Fault, tally, until } from './fault.ts'
import { after, attachLoop, mount, need, released, sh } from './lab.ts'
import { acknowledged, type Ledger, settle, startLoad } from './load.ts'
import { faultsOf, type Verdict, verify } from './verify.ts'

interface FailingDisk {
  disk: string
  fail: (failing: boolean) => void
  cutPower: () => Promise<void>
}

/**
 * An ext4 whose data can be made to fail: the image is served by nbdkit with an error filter, and
 * comes back as a file by FUSE, since a loop device is everywhere and nbd is not. The journal is on
 * a disk that is well, else ext4 would turn read-only at the first error.
 */
async function failingDisk(folder: string, rate: string): Promise<FailingDisk> {
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
  const quiet = { stdin: 'ignore', stdout: 'ignore', stderr: 'ignore' } as const
  const nbdkit = Bun.spawn(
    ['nbdkit', '-f', '-U', socket, '--filter=error', 'file', join(folder, 'data'), ...errors],
    quiet,
  )
  after(() => nbdkit.kill('SIGKILL'))
  const image = join(fuse, 'image')
  await sh('mkdir', fuse)
  await until(5000, () => existsSync(socket))
  const nbdfuse = Bun.spawn(['nbdfuse', image, `nbd+unix:///?socket=${socket}`], quiet)
  after(() => nbdfuse.kill('SIGKILL'))
  after(() => sh('umount', '--lazy', fuse))
  await until(5000, () => existsSync(image))

  const { device } = await attachLoop(image)
  let unmount = await mount(disk, '-o', 'commit=300', device)
  return {
    disk,
    fail(failing) {
      if (failing) writeFileSync(trigger, '')
      else rmSync(trigger)
    },
    async cutPower() {
      await sh('xfs_io', '-x', '-c', 'shutdown', disk)
      await unmount()
      await released(device)
      unmount = await mount(disk, '-o', 'commit=300', device)
    },
  }
}

interface Suffering {
  program: Program
  restart: boolean
  rounds: number
  /** The part of the writes that fail. */
  rate: '100%' | '50%'
}

/** Data writes fail; the program lives on or is started anew; it works on; the power goes. */
async function suffer(folder: string, { program, restart, rounds, rate }: Suffering) {
  await sh('mkdir', folder)
  const { disk, fail, cutPower } = await failingDisk(folder, rate)
  const database = join(disk, 'plants.db')
  const ledger: Ledger = new Map()
  const verdicts: Verdict[] = []
  const problems: string[] = []
  for (let round = 0; round < rounds; round++) {
    let daemon = await serve(database, { program })
    await settle(daemon, ledger)
    const before = startLoad(daemon, { ledger })
    if (!(await acknowledged(ledger, 200, 15_000))) problems.push('too slow')
    fail(true)
    // The creates of a commit in doubt are not answered before the disk has been read again: the log tells of it.
    const isNoticed = () => before.errors.size > 0 || daemon.err().includes('storage-failed')
    if (!(await until(20_000, isNoticed))) problems.push('no error was noticed')
    await Bun.sleep(300)
    if (restart) await daemon.kill()
    fail(false)
    if (restart) {
      await before.stop()
      daemon = await serve(database, { program })
    }
    const load = restart ? startLoad(daemon, { ledger }) : before
    if (!(await acknowledged(ledger, 200, 10_000))) problems.push('it did not heal')
    if (!daemon.alive()) problems.push(`it crashed with exit code ${await daemon.exited}`)
    await daemon.kill()
    await load.stop()
    await cutPower()
    verdicts.push(verify(database, ledger))
    if (problems.length > 0 || verdicts.at(-1)?.integrity !== 'ok') break
  }
  return { ledger, verdicts, problems }
}

function worst(verdicts: Verdict[]): string {
  const lost = Math.max(...verdicts.map((verdict) => verdict.lost))
  const bad = verdicts.some((verdict) => verdict.integrity !== 'ok')
  return `${lost} lost${bad ? ', database malformed' : ''}`
}

const tools = ['nbdkit', 'nbdfuse', 'fusermount3', 'mkfs.ext4', 'losetup', 'xfs_io']

const CONTROL_TRIES = 4

// True if what fails is just what is trusted later is chance too: the control gets several tries to be hurt.
async function controlSuffers(folder: string, suffering: Omit<Suffering, 'program'>) {
  const program = control('--trust-page-cache')
  for (let tries = 1; ; tries++) {
    const lax = await suffer(join(folder, `control-${tries}`), {
      ...suffering,
      rate: '100%',
      program,
    })
    if (lax.verdicts.flatMap(faultsOf).length > 0 || tries === CONTROL_TRIES) return lax
  }
}

function lyingCache(name: string, about: string, suffering: Omit<Suffering, 'program'>): Fault {
  return {
    name,
    about,
    async run(folder) {
      await need(...tools)
      const real = await suffer(join(folder, 'real'), { ...suffering, program: plantstore })
      const problems = [...real.problems, ...real.verdicts.flatMap(faultsOf)]
      const lax = await controlSuffers(folder, suffering)
      if (lax.verdicts.flatMap(faultsOf).length === 0) {
        problems.push('the control that trusts the page cache was not hurt')
      }
      const stored = count(tally(real.ledger).stored, 'plant')
      return {
        tried: about,
        many: `${count(real.verdicts.length, 'round')}, ${stored} acknowledged`,
        lost: `${worst(real.verdicts)} (control that trusts the page cache: ${worst(lax.verdicts)})`,
        problems,
      }
    },
  }
}

export const lyingCacheFaults: Fault[] = [
  lyingCache(
    'lying-cache-restart',
    'data writes fail, kill -9, it is started again and works on, the power goes',
    { restart: true, rounds: 3, rate: '100%' },
  ),
  lyingCache(
    'lying-cache-heal',
    'data writes fail for a while, it works on by itself, the power goes',
    { restart: false, rounds: 2, rate: '100%' },
  ),
  lyingCache(
    'lying-cache-partly',
    'half of the data writes fail for a while, it works on by itself, the power goes',
    { restart: false, rounds: 5, rate: '50%' },
  ),
]
