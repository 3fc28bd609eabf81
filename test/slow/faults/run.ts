// Injects every fault into dist/plantstore: `bun test/slow/faults/run.ts [--list] [--only NAME[,NAME]]`.
import { mkdirSync } from 'node:fs'
import { join } from 'node:path'
import { parseArgs } from 'node:util'
import { builtPath, faultOf } from '../../harness/built.ts'
import { clientFaults } from './clients.ts'
import { clockFaults } from './clock.ts'
import { commandFaults } from './commands.ts'
import { type Fault, Skipped } from './fault.ts'
import { fileFaults } from './files.ts'
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
import { postgresLaneFaults } from './postgres-lane.ts'
import { postgresLinearFaults } from './postgres-linear.ts'
import { postgresReplicaFaults } from './postgres-replica.ts'
import { powerFaults } from './power.ts'
import { proxyFaults } from './proxies.ts'
import { replayFaults } from './replay.ts'
import { restoreFaults } from './restore.ts'
import { searchFaults } from './searches.ts'
import { sigtermFaults } from './sigterm.ts'
import { soakFaults } from './soak.ts'
import { stallFaults } from './stall.ts'
import { traceFaults } from './trace.ts'
import { unreadFaults } from './unread.ts'

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
  ...clientFaults,
  ...proxyFaults,
  ...fileFaults,
  ...memoryFaults,
  ...unreadFaults,
  ...searchFaults,
  ...longFileFaults,
  ...clockFaults,
  ...postgresFaults,
  ...postgresDiskFaults,
  ...postgresLaneFaults,
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

function line(word: string, fault: Fault, ms: number, text: string): void {
  const seconds = `${(ms / 1000).toFixed(1)} s`.padStart(7)
  console.log(`${word.padEnd(7)} ${fault.name.padEnd(22)} ${seconds}  ${text}`)
}

function summary(problems: string[]): string {
  const distinct = [...new Set(problems)]
  const more = distinct.length > 5 ? [`and ${distinct.length - 5} more`] : []
  return [...distinct.slice(0, 5), ...more].join('; ')
}

const results = { passed: 0, failed: 0, skipped: 0 }

// On a busy machine a fault may end before enough was done beside it. Nothing that concerns plants is among these.
const BUSY = /^too (slow|few)|^not within |did not (heal|recover)$|was not hurt$| to tell$/
const ATTEMPTS = 2

type Word = 'passed' | 'FAILED' | 'skipped'

async function attempt(fault: Fault, folder: string): Promise<[Word, string, problems: string[]]> {
  mkdirSync(folder)
  try {
    const { tried, many, lost, problems } = await fault.run(folder)
    const text = `${tried} | ${many} | ${lost}`
    if (problems.length === 0) return ['passed', text, problems]
    return ['FAILED', `${text} | ${summary(problems)}`, problems]
  } catch (error) {
    const said = error instanceof Error ? error.message : String(error)
    const word = error instanceof Skipped ? 'skipped' : 'FAILED'
    return [word, `${fault.about} | ${said}`, [said]]
  } finally {
    await undoAll()
  }
}

async function inject(fault: Fault): Promise<void> {
  for (let n = 1; ; n++) {
    const start = performance.now()
    const [word, text, problems] = await attempt(fault, join(temporaryFolder(), fault.name))
    const isBusy = word === 'FAILED' && n < ATTEMPTS && problems.every((it) => BUSY.test(it))
    const again = n > 1 ? ` (attempt ${n})` : ''
    line(isBusy ? 'again' : word, fault, performance.now() - start, `${text}${again}`)
    if (isBusy) continue
    results[word === 'FAILED' ? 'failed' : word]++
    return
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
  const { passed, failed, skipped } = results
  console.log(`${passed} passed, ${failed} failed${skipped > 0 ? `, ${skipped} skipped` : ''}`)
  return failed > 0 ? 1 : 0
}

for (const signal of ['SIGINT', 'SIGTERM'] as const) {
  process.on(signal, async () => {
    await undoAll()
    process.exit(130)
  })
}

process.exit(await main())
