import { closeSync, openSync, rmSync, statSync, truncateSync, writeSync } from 'node:fs'
import { join } from 'node:path'
import { once, request } from '../../harness/http.ts'
import { type Daemon, launch, serve } from './daemon.ts'
import type { Fault, Report } from './fault.ts'
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
  startLoad,
} from './load.ts'
import { endWell, faultsOf, startAgain, verify } from './verify.ts'

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

const isWell = (daemon: Daemon) => async () => (await health(daemon)) === 200

/** A new store cannot be made on a full disk: one line says so. */
async function startNew(disk: string, report: Report): Promise<void> {
  const run = launch(join(disk, 'new.db'))
  const code = await run.finished
  const isClear = /^plantstore: .*new.db: .*disk full.*\n$/.test(run.err())
  report.expect(code === 74 && isClear, `a new store ends with ${code}: ${run.err()}`)
}

const ROUNDS = 3

async function fullDisk(disk: string, report: Report): Promise<void> {
  const database = join(disk, 'plants.db')
  const ballast = join(disk, 'ballast')
  const daemon = await serve(database)
  const load = startLoad(daemon)
  const { ledger, errors } = load
  report.expect(await acknowledged(ledger, 300, 10_000), 'too slow')
  const refusals = () => errors.get(50701) ?? 0
  for (let round = 0; round < ROUNDS; round++) {
    fill(ballast)
    const before = refusals()
    await report.expectSoon(15_000, () => refusals() > before + 20, 'no 50701')
    await report.expectSoon(4000, async () => (await health(daemon)) >= 500, 'health is well')
    rmSync(ballast)
    report.expect(await acknowledged(ledger, 100, 15_000), 'it did not heal')
    await report.expectSoon(10_000, isWell(daemon), 'health stays bad')
  }
  fill(ballast)
  await Bun.sleep(500)
  await startNew(disk, report)
  report.expect(daemon.err().includes('"disk-full"'), 'the full disk is not logged')
  report.expect(daemon.alive(), 'it crashed')
  await daemon.kill()
  await load.stop()
  report.note(...faultsOf(verify(database, ledger)))
  rmSync(ballast)
  const wrong = [...errors.keys()].filter((error) => error !== 50701 && error !== 50301)
  report.expect(wrong.length === 0, `answered with ${wrong.join(', ')}`)
  await startAgain(database, ledger, report)
}

const REFUSALS = 150

/** Plants and their entries in the change log fill a disk: health is bad while every create is refused. */
async function fillWithPlants(folder: string, report: Report): Promise<void> {
  await need()
  await mount(folder, '-t', 'tmpfs', '-o', 'size=3m', 'tmpfs')
  const database = join(folder, 'plants.db')
  const daemon = await serve(database, { words: ['--keep-changes', '1d'] })
  const ledger: Ledger = new Map()
  const createNext = async () => {
    const n = nextNumber(ledger)
    const entry = fateOf(await create(daemon, n))
    ledger.set(n, entry)
    return entry
  }
  const isWritable = () => daemon.metric('plantstore_storage_writable')
  while ((await createNext()).error !== 50701);
  for (let refused = 0; refused < REFUSALS; ) {
    const { fate, error } = await createNext()
    // A very short plant may still fit.
    if (fate === 'stored') continue
    refused += 1
    report.expect(error === 50701, `a create ended with ${error}`)
    report.expect((await health(daemon)) !== 200, 'health is well')
    await Bun.sleep(20)
  }
  report.expect((await isWritable()) === 0, 'the metric says that it can write')
  await sh('mount', '-o', 'remount,size=16m', folder)
  await report.expectSoon(10_000, isWell(daemon), 'health stays bad')
  report.expect((await isWritable()) === 1, 'the metric says that it cannot write')
  report.expect(await recovers(daemon, ledger, 1000), 'no creates once there is space')
  await endWell(daemon, database, ledger, report)
}

const SPARE_BYTES = 1024 * 1024

/** Replaces one plant until the write-ahead log has filled the disk. */
async function fillWithLog(folder: string, report: Report): Promise<void> {
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
  truncateSync(ballast, statSync(ballast).size - SPARE_BYTES)
  let replaced = 0
  let status = await replace('0')
  for (; status === 200; status = await replace(`${replaced}`)) replaced += 1
  report.expect(status === 507, `a change is answered with ${status}`)
  const isReplaced = async () => (await replace(name)) === 200
  await report.expectSoon(10_000, isReplaced, 'changes stay refused')
  await report.expectSoon(10_000, isWell(daemon), 'health stays bad')
  await endWell(daemon, database, ledger, report)
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
    run: fillWithPlants,
  },
  {
    name: 'full-log',
    about: 'a tmpfs that the write-ahead log fills: changes of stored plants are accepted again',
    run: fillWithLog,
  },
  {
    name: 'full-tmpfs',
    about: 'a full tmpfs, then space again without a restart, then kill -9 while it is full',
    async run(folder, report) {
      await need()
      await mount(folder, '-t', 'tmpfs', '-o', 'size=64m', 'tmpfs')
      await fullDisk(folder, report)
    },
  },
  {
    name: 'full-ext4',
    about: 'a full ext4, then space again without a restart, then kill -9 while it is full',
    run: async (folder, report) => fullDisk(await smallExt4(folder), report),
  },
]
