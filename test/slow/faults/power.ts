import { statSync } from 'node:fs'
import { join } from 'node:path'
import { control, type Start, serve } from './daemon.ts'
import { type Fault, Report } from './fault.ts'
import { after, attachLoop, mount, need, released, sh } from './lab.ts'
import { acknowledged, type Ledger, settle, startLoad } from './load.ts'
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

/** Writes and syncs records beside the daemon: what it loses, the file system has lost. */
function startPlainWriter(disk: string) {
  const file = join(disk, 'plain')
  const child = Bun.spawn([process.execPath, join(import.meta.dir, 'plain-writer.ts'), file], {
    stdin: 'ignore',
    stdout: 'pipe',
    stderr: 'ignore',
  })
  after(() => child.kill('SIGKILL'))
  let confirmed = 0
  const ended = (async () => {
    const decoder = new TextDecoder()
    let rest = ''
    for await (const chunk of child.stdout) {
      const lines = (rest + decoder.decode(chunk, { stream: true })).split('\n')
      rest = lines.pop() ?? ''
      confirmed = Number(lines.at(-1) ?? confirmed)
    }
  })()
  return {
    confirmed: () => confirmed,
    async end(): Promise<void> {
      child.kill('SIGKILL')
      await ended
    },
    /** The records in the file, once the disk is mounted again; none if it went away before the file was synced. */
    stored: () => (statSync(file, { throwIfNoEntry: false })?.size ?? 0) / 8,
  }
}

/**
 * Later acknowledgements count as unknown: without power, no answer leaves a machine. (An fsync in progress when ext4
 * or xfs is shut down may return 0 and have synced nothing, as for the plain writer.).
 */
function forgetLater(ledger: Ledger): () => void {
  const before = new Map(ledger)
  return () => {
    for (const [n, { fate }] of ledger) {
      if (fate === 'stored' && before.get(n)?.fate !== 'stored') {
        ledger.set(n, { fate: 'unknown', error: 0 })
      }
    }
  }
}

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
    const plain = startPlainWriter(disk)
    report.expect(await acknowledged(ledger, 50, 10_000), 'too slow')
    await Bun.sleep(Math.random() * 300)
    const forget = forgetLater(ledger)
    const plainBefore = plain.confirmed()
    await sh('xfs_io', '-x', '-c', 'shutdown', disk)
    await Bun.sleep(200)
    // A commit that met the outage has ended it.
    const code = daemon.alive() ? 74 : await daemon.exited
    report.expect(code === 74, `it crashed with exit code ${code}`)
    await daemon.kill()
    await load.stop()
    await plain.end()
    forget()
    await unmount()
    await released(device)
    unmount = await mount(disk, device)
    report.expect(plain.stored() >= plainBefore, 'the file system lost what it had synced')
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
