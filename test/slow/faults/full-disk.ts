import { closeSync, openSync, rmSync, statSync, truncateSync, writeSync } from 'node:fs'
import { join } from 'node:path'
import { once, request } from '../../harness/http.ts'
import { type Daemon, launch, serve } from './daemon.ts'
import { comesTrue, count, type Fault, type Outcome, tally } from './fault.ts'
import { attachLoop, mount, need, sh } from './lab.ts'
import {
  acknowledged,
  create,
  fateOf,
  health,
  type Ledger,
  nextNumber,
  plantOf,
  recovers,
  settle,
  startLoad,
} from './load.ts'
import { faultsOf, verify } from './verify.ts'

/** Takes all the space that is left. */
export function fill(file: string): void {
  const fd = openSync(file, 'a')
  try {
    for (let size = 1 << 20; size >= 512; size /= 2) {
      const block = Buffer.alloc(size, 1)
      try {
        while (writeSync(fd, block) === size);
      } catch {
        // Full for blocks of this size.
      }
    }
  } finally {
    closeSync(fd)
  }
}

/** Starts a new store on a disk that is full; returns what is wrong with how that ends. */
async function startNew(disk: string): Promise<string[]> {
  const run = launch(join(disk, 'new.db'))
  const code = await run.exited
  await run.finished
  const isClear = /^plantstore: .*new.db: .*disk full.*\n$/.test(run.err())
  if (code === 74 && isClear) return []
  return [`a new store ends with ${code}: ${JSON.stringify(run.err())}`]
}

async function fullDisk(disk: string, about: string): Promise<Outcome> {
  const database = join(disk, 'plants.db')
  const ballast = join(disk, 'ballast')
  const problems: string[] = []
  let daemon = await serve(database)
  const load = startLoad(daemon)
  if (!(await acknowledged(load.ledger, 300, 10_000))) problems.push('too slow')
  const rounds = 3
  for (let round = 0; round < rounds; round++) {
    fill(ballast)
    const refusals = () => load.errors.get(50701) ?? 0
    const before = refusals()
    const noticed = await comesTrue(15_000, () => refusals() > before + 20)
    if (!noticed) problems.push(`round ${round + 1}: no 50701`)
    if (!(await comesTrue(4000, async () => (await health(daemon)) >= 500))) {
      problems.push('health does not show it')
    }
    rmSync(ballast)
    if (!(await acknowledged(load.ledger, 100, 15_000))) problems.push('it did not heal')
    if (!(await comesTrue(10_000, async () => (await health(daemon)) === 200))) {
      problems.push('health stays bad')
    }
  }
  fill(ballast)
  await Bun.sleep(500)
  problems.push(...(await startNew(disk)))
  if (!daemon.err().includes('"disk-full"')) problems.push('the log does not tell of it')
  if (!daemon.alive()) problems.push(`it crashed with exit code ${await daemon.exited}`)
  await daemon.kill()
  await load.stop()
  problems.push(...faultsOf(verify(database, load.ledger)))
  rmSync(ballast)
  daemon = await serve(database)
  await settle(daemon, load.ledger)
  if (!(await recovers(daemon, load.ledger, 5000))) problems.push('no creates after a restart')
  if ((await daemon.stop()) !== 0) problems.push('a bad exit code after SIGTERM')
  const verdict = verify(database, load.ledger)
  problems.push(...faultsOf(verdict))
  const wrong = [...load.errors.keys()].filter((error) => error !== 50701 && error !== 50301)
  if (wrong.length > 0) problems.push(`answered with ${wrong.join(', ')}`)
  const { stored, refused } = tally(load.ledger)
  return {
    tried: about,
    many: `full ${rounds + 1} times, ${count(stored, 'plant')} acknowledged, ${refused} refused`,
    lost: `${verdict.lost} lost, ${verdict.returned} came back`,
    problems,
  }
}

const refusals = 150

/** The problems of `/health` while every create is refused, and after space was added without further creates. */
async function watchRefusals(daemon: Daemon, ledger: Ledger, addSpace: () => Promise<unknown>) {
  const problems: string[] = []
  const isWritable = async () => (await daemon.metric('plantstore_storage_writable')) === 1
  let well = 0
  for (let refused = 0; refused < refusals; ) {
    const n = nextNumber(ledger)
    const entry = fateOf(await create(daemon, n))
    ledger.set(n, entry)
    // A very short plant may still fit.
    if (entry.fate === 'stored') continue
    refused += 1
    if (entry.error !== 50701) problems.push(`a create ended with ${entry.error}`)
    if ((await health(daemon)) === 200) well += 1
    await Bun.sleep(20)
  }
  if (well > 0) problems.push(`${well} of ${refusals} times, health was well`)
  if (await isWritable()) problems.push('the metric says that it can write')
  await addSpace()
  if (!(await comesTrue(10_000, async () => (await health(daemon)) === 200))) {
    problems.push('health stays bad')
  }
  if (!(await isWritable())) problems.push('the metric says that it cannot write')
  return problems
}

/** Fills a small disk with plants and their entries in the change log. */
async function fillWithPlants(folder: string, about: string): Promise<Outcome> {
  await need()
  await mount(folder, '-t', 'tmpfs', '-o', 'size=3m', 'tmpfs')
  const database = join(folder, 'plants.db')
  const daemon = await serve(database, { words: ['--keep-changes', '1d'] })
  const ledger: Ledger = new Map()
  for (let n = 1; ledger.get(n - 1)?.error !== 50701; n++) {
    ledger.set(n, fateOf(await create(daemon, n)))
  }
  const addSpace = () => sh('mount', '-o', 'remount,size=16m', folder)
  const problems = await watchRefusals(daemon, ledger, addSpace)
  if (!(await recovers(daemon, ledger, 1000))) problems.push('no creates once there is space')
  if ((await daemon.stop()) !== 0) problems.push('a bad exit code after SIGTERM')
  const verdict = verify(database, ledger)
  problems.push(...faultsOf(verdict))
  const { stored, refused } = tally(ledger)
  return {
    tried: about,
    many: `${count(stored, 'plant')} acknowledged, ${refused} refused`,
    lost: `${verdict.lost} lost, ${verdict.returned} came back`,
    problems,
  }
}

const spareBytes = 1024 * 1024

/** Replaces one plant until the write-ahead log has filled the disk. */
async function fillWithLog(folder: string, about: string): Promise<Outcome> {
  await need()
  await mount(folder, '-t', 'tmpfs', '-o', 'size=16m', 'tmpfs')
  const database = join(folder, 'plants.db')
  const daemon = await serve(database)
  const ledger: Ledger = new Map([[1, fateOf(await create(daemon, 1))]])
  const { id, name, tag } = plantOf(1)
  const replace = async (newName: string) => {
    const body = JSON.stringify({ name: newName, tag })
    const answer = await once(daemon.port, request('PUT', `/plants/${id}`, daemon.token, body))
    return answer?.status
  }
  const ballast = join(folder, 'ballast')
  fill(ballast)
  truncateSync(ballast, statSync(ballast).size - spareBytes)
  const problems: string[] = []
  let replaced = 0
  let status = await replace('0')
  for (; status === 200; status = await replace(`${replaced}`)) replaced += 1
  if (status !== 507) problems.push(`a change is answered with ${status}`)
  if (!(await comesTrue(10_000, async () => (await replace(name)) === 200))) {
    problems.push('changes stay refused')
  }
  if (!(await comesTrue(10_000, async () => (await health(daemon)) === 200))) {
    problems.push('health stays bad')
  }
  if ((await daemon.stop()) !== 0) problems.push('a bad exit code after SIGTERM')
  const verdict = verify(database, ledger)
  problems.push(...faultsOf(verdict))
  return {
    tried: about,
    many: `the disk was full after ${count(replaced, 'change')}`,
    lost: `${verdict.lost} lost`,
    problems,
  }
}

/** Mounts an ext4 of 32 MB; resolves to its folder. */
async function smallExt4(folder: string): Promise<string> {
  await need('mkfs.ext4', 'losetup')
  const image = join(folder, 'image')
  await sh('truncate', '-s', '32M', image)
  await sh('mkfs.ext4', '-q', '-m', '0', image)
  const { device } = await attachLoop(image)
  const disk = join(folder, 'disk')
  await mount(disk, device)
  return disk
}

export const fullDiskFaults: Fault[] = [
  {
    name: 'full-health',
    about: 'a tmpfs of 3 MB that plants fill: health while every create is refused, then space',
    run(folder) {
      return fillWithPlants(folder, this.about)
    },
  },
  {
    name: 'full-log',
    about: 'a tmpfs that the write-ahead log fills: changes of stored plants are accepted again',
    run(folder) {
      return fillWithLog(folder, this.about)
    },
  },
  {
    name: 'full-tmpfs',
    about: 'a full tmpfs, then space again without a restart, then kill -9 while it is full',
    async run(folder) {
      await need()
      await mount(folder, '-t', 'tmpfs', '-o', 'size=64m', 'tmpfs')
      return fullDisk(folder, this.about)
    },
  },
  {
    name: 'full-ext4',
    about: 'a full ext4, then space again without a restart, then kill -9 while it is full',
    async run(folder) {
      return fullDisk(await smallExt4(folder), this.about)
    },
  },
]
