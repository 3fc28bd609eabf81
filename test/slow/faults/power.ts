import { statSync } from 'node:fs'
import { join } from 'node:path'
import { control, type Start, serve } from './daemon.ts'
import { count, type Fault, type Outcome, tally } from './fault.ts'
import { after, attachLoop, mount, need, released, sh } from './lab.ts'
import { acknowledged, type Ledger, recovers, settle, startLoad } from './load.ts'
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

interface Outage {
  ledger: Ledger
  verdicts: Verdict[]
  /** The outages in which the plain writer lost records that an fsync had confirmed while the disk went away. */
  lies: number
  problems: string[]
}

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
async function outages(folder: string, on: FileSystem, start: Start): Promise<Outage> {
  const image = join(folder, `${Bun.nanoseconds()}.image`)
  await sh('truncate', '-s', on.size, image)
  await sh(...on.make, image)
  const { device } = await attachLoop(image)
  const disk = join(folder, `${Bun.nanoseconds()}`)
  const database = join(disk, 'plants.db')
  const ledger: Ledger = new Map()
  const verdicts: Verdict[] = []
  const problems: string[] = []
  let lies = 0
  let unmount = await mount(disk, device)
  for (let round = 0; round < rounds; round++) {
    const daemon = await serve(database, start)
    await settle(daemon, ledger)
    const load = startLoad(daemon, { ledger })
    const plain = startPlainWriter(disk)
    if (!(await acknowledged(ledger, 50, 10_000))) problems.push('too slow')
    await Bun.sleep(Math.random() * 300)
    const forget = forgetLater(ledger)
    const plainBefore = plain.confirmed()
    await sh('xfs_io', '-x', '-c', 'shutdown', disk)
    await Bun.sleep(200)
    // A commit that met the outage has ended it.
    const code = daemon.alive() ? 74 : await daemon.exited
    if (code !== 74) problems.push(`it crashed with exit code ${code}`)
    await daemon.kill()
    await load.stop()
    await plain.end()
    forget()
    await unmount()
    await released(device)
    unmount = await mount(disk, device)
    if (plain.stored() < plainBefore) problems.push('the file system lost what it had synced')
    if (plain.stored() < plain.confirmed()) lies++
    verdicts.push(verify(database, ledger))
  }
  const daemon = await serve(database, start)
  await settle(daemon, ledger)
  if (!(await recovers(daemon, ledger, 5000))) problems.push('no creates after a restart')
  if ((await daemon.stop()) !== 0) problems.push('a bad exit code after SIGTERM')
  verdicts.push(verify(database, ledger))
  await unmount()
  return { ledger, verdicts, lies, problems }
}

async function powerLoss(folder: string, on: FileSystem, about: string): Promise<Outcome> {
  await need('losetup', 'xfs_io', on.make[0] ?? '')
  const real = await outages(folder, on, { env: { PLANTSTORE_KEEP_CHANGES: on.keepChanges } })
  const lax = await outages(folder, on, { program: control('--synchronous', 'normal') })
  const problems = [...real.problems, ...real.verdicts.flatMap(faultsOf)]
  const forgotten = Math.max(...lax.verdicts.map(({ lost }) => lost))
  if (forgotten === 0) problems.push('the control with synchronous=NORMAL lost nothing')
  const lost = Math.max(...real.verdicts.map((verdict) => verdict.lost))
  return {
    tried: about,
    many: `${rounds} outages, ${count(tally(real.ledger).stored, 'plant')} acknowledged`,
    lost: `${lost} lost (control: ${forgotten} of ${tally(lax.ledger).stored}; a plain writer lost confirmed records in ${real.lies + lax.lies} of ${2 * rounds} outages)`,
    problems,
  }
}

export const powerFaults: Fault[] = fileSystems.map((on) => ({
  name: `power-${on.name}`,
  about: `an ${on.name} that is shut down under load without a flush, and mounted again`,
  run(folder) {
    return powerLoss(folder, on, this.about)
  },
}))
