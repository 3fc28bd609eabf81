// Injects every fault into dist/plantstore: `bun test/slow/faults/run.ts [--list] [--only NAME[,NAME]]`.
import { mkdirSync } from 'node:fs'
import { join } from 'node:path'
import { parseArgs } from 'node:util'
import { builtPath, faultOf } from '../../harness/built.ts'
import { clockFaults } from './clock.ts'
import { commandFaults } from './commands.ts'
import { crowdFaults } from './crowds.ts'
import { type Fault, Report, Skipped } from './fault.ts'
import { fullDiskFaults } from './full-disk.ts'
import { ioErrorFaults } from './io-errors.ts'
import { killFaults } from './kill.ts'
import { temporaryFolder, undoAll } from './lab.ts'
import { linearizabilityFaults } from './linearizability.ts'
import { longFileFaults } from './long-files.ts'
import { lyingCacheFaults } from './lying-cache.ts'
import { memoryFaults } from './memory.ts'
import { patroniFaults } from './patroni.ts'
import { postgresFaults } from './postgres.ts'
import { postgresDaemonFaults } from './postgres-daemon.ts'
import { postgresDiskFaults } from './postgres-disk.ts'
import { postgresLinearFaults } from './postgres-linear.ts'
import { postgresReplicaFaults } from './postgres-replica.ts'
import { powerFaults } from './power.ts'
import { proxyFaults } from './proxies.ts'
import { replayFaults } from './replay.ts'
import { restoreFaults } from './restore.ts'
import { print, printSum, type Result } from './results.ts'
import { sigtermFaults } from './sigterm.ts'
import { soakFaults } from './soak.ts'
import { stallFaults } from './stall.ts'
import { traceFaults } from './trace.ts'

const faults: Fault[] = [
  ...killFaults,
  ...traceFaults,
  ...ioErrorFaults,
  ...fullDiskFaults,
  ...commandFaults,
  ...powerFaults,
  ...replayFaults,
  ...restoreFaults,
  ...lyingCacheFaults,
  ...soakFaults,
  ...stallFaults,
  ...linearizabilityFaults,
  ...sigtermFaults,
  ...crowdFaults,
  ...proxyFaults,
  ...memoryFaults,
  ...longFileFaults,
  ...clockFaults,
  ...postgresFaults,
  ...postgresDiskFaults,
  ...postgresLinearFaults,
  ...postgresDaemonFaults,
  ...postgresReplicaFaults,
]

// Those that take too long to be injected without being named.
const allFaults = [...faults, ...patroniFaults]

const { values } = parseArgs({
  options: { list: { type: 'boolean' }, only: { type: 'string' } },
})

function chosen(): Fault[] {
  if (values.only === undefined) return faults
  const names = values.only.split(',')
  const unknown = names.filter((name) => !allFaults.some((fault) => fault.name === name))
  if (unknown.length > 0) throw new Error(`unknown fault: ${unknown.join(', ')}; see --list`)
  return allFaults.filter((fault) => names.includes(fault.name))
}

// On a busy machine a fault may end before enough was done beside it. Nothing that concerns plants is among these.
const BUSY =
  /^too (slow|few)|^not within |did not (heal|recover)$|was not hurt$| to tell$| ms after SIGINT$/
const ATTEMPTS = 2
const SHOWN_PROBLEMS = 5

async function attempt(fault: Fault) {
  const report = new Report()
  const folder = join(temporaryFolder(), fault.name)
  mkdirSync(folder)
  try {
    await fault.run(folder, report)
  } catch (error) {
    const message = error instanceof Error ? error.message : String(error)
    if (error instanceof Skipped)
      return { word: 'skipped' as const, counts: [], problems: [message] }
    report.note(message)
  } finally {
    await undoAll()
  }
  const problems = [...new Set(report.problems)]
  const word: Result = problems.length === 0 ? 'passed' : 'FAILED'
  return { word, counts: report.counts, problems }
}

async function inject(fault: Fault): Promise<void> {
  for (let n = 1; ; n++) {
    const start = performance.now()
    const { word, counts, problems } = await attempt(fault)
    const isBusy = word === 'FAILED' && n < ATTEMPTS && problems.every((it) => BUSY.test(it))
    print(isBusy ? 'again' : word, fault, start, [...counts, ...problems.slice(0, SHOWN_PROBLEMS)])
    if (!isBusy) return
  }
}

async function main(): Promise<number> {
  if (values.list) {
    for (const { name, about } of allFaults) console.log(`${name.padEnd(22)} ${about}`)
    return 0
  }
  const reason = faultOf(builtPath)
  if (reason) {
    console.error(reason)
    return 2
  }
  for (const fault of chosen()) await inject(fault)
  return printSum()
}

for (const signal of ['SIGINT', 'SIGTERM'] as const) {
  process.on(signal, async () => {
    await undoAll()
    process.exit(130)
  })
}

process.exit(await main())
