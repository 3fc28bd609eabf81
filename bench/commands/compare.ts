// `bun run bench --compare COMMIT[,COMMIT]`: two builds of plantstore in alternating rounds, so that other work on the
// machine slows both. Each round starts both anew, because two processes of one executable differ in speed.
import { copyFileSync, existsSync } from 'node:fs'
import { join } from 'node:path'
import { number, numbers, readFlags } from '../lib/flags.ts'
import { build, buildCommit, plantstoreAt, project } from '../lib/plantstore.ts'
import { cpuTime, residentBytes } from '../lib/process.ts'
import { removeFolder, run, temporaryFolder } from '../lib/processes.ts'
import { loadInTurn, type Sample } from '../lib/rounds.ts'
import { type Running, type Server, seed, startServer } from '../lib/server.ts'
import { setUp } from '../lib/setup.ts'
import { withSlowSyncs } from '../lib/slow-disk.ts'
import { median, quantile } from '../lib/statistics.ts'
import { decimals, table, thousands } from '../lib/table.ts'
import { createLoader, readOf } from '../lib/wrk.ts'

const flags = readFlags(
  'Compares two builds of plantstore in alternating rounds. The first is the base.',
  {
    compare: { default: '', help: 'COMMIT (against the working tree) or COMMIT,COMMIT' },
    'compare-binaries': { default: '', help: 'PATH,PATH: two executables' },
    rounds: { default: '9', help: 'how often both are started and measured' },
    seconds: { default: '1', help: 'seconds of load at each number of connections' },
    connections: { default: '1,64,256', help: 'connections at once' },
    starts: { default: '15', help: 'how often the start of each is timed' },
    'warm-up': { default: '1', help: 'seconds of load first; the JIT compiles for about ten' },
    'fsync-ms': { default: '0', help: 'milliseconds added to each fsync' },
  },
)
const delay = number(flags['fsync-ms'])
// Plants that are read, and stored before all others.
const STORED = 2000

function refuse(message: string): never {
  console.error(message)
  process.exit(2)
}

/** The two executables. Ends the command with 2 unless the flags name two. */
async function executables(): Promise<{ base: string; new: string }> {
  const isBinaries = flags['compare-binaries'] !== ''
  const [base = '', other = '', ...more] = (flags['compare-binaries'] || flags.compare).split(',')
  if (!base || more.length > 0 || (isBinaries && !other)) refuse('give two builds: BASE,NEW')
  if (isBinaries) {
    for (const path of [base, other]) if (!existsSync(path)) refuse(`no executable at ${path}`)
    return { base, new: other }
  }
  return { base: await buildCommit(base), new: await (other ? buildCommit(other) : build(project)) }
}

const NAMES = ['base', 'new'] as const
type Pair = Record<(typeof NAMES)[number], number>

/** The figures of both by name, one pair a round. */
const measured = new Map<string, Pair[]>()
function record(name: string, pair: Pair): void {
  measured.set(name, [...(measured.get(name) ?? []), pair])
}

function recordLoads(what: string, samples: readonly Sample[]): void {
  for (const [count, own] of Map.groupBy(samples, ({ connections }) => connections)) {
    const of = (field: 'perSecond' | 'cpu'): Pair => {
      const find = (name: string) =>
        own.find((sample) => sample.name === name)?.[field] ?? Number.NaN
      return { base: find('base'), new: find('new') }
    }
    record(`${what}s/s, ${count}`, of('perSecond'))
    record(`CPU us per ${what}, ${count}`, of('cpu'))
  }
}

async function measureStarts(servers: Record<keyof Pair, Server>): Promise<void> {
  const folders = { base: temporaryFolder(), new: temporaryFolder() }
  // The first start creates the store and reads the executable into the page cache.
  for (let n = 0; n <= number(flags.starts); n++) {
    const [ms, cpu]: [Pair, Pair] = [
      { base: 0, new: 0 },
      { base: 0, new: 0 },
    ]
    for (const name of n % 2 === 0 ? NAMES : NAMES.toReversed()) {
      const running = await startServer(servers[name], folders[name])
      cpu[name] = cpuTime(running.pid)
      ms[name] = running.startMs
      await running.stop()
    }
    if (n > 0) record('start ms', ms)
    if (n > 0) record('CPU us of the start', cpu)
  }
}

function recordMemory(when: string, { base, new: other }: Record<keyof Pair, Running>): void {
  const of = (running: Running) => residentBytes(running.pid) / 2 ** 20
  record(`MiB ${when}`, { base: of(base), new: of(other) })
}

async function measureRound(round: number, servers: Record<keyof Pair, Server>): Promise<void> {
  const started = (server: Server) => startServer(server, undefined, withSlowSyncs(delay))
  const running = { base: await started(servers.base), new: await started(servers.new) }
  await Bun.sleep(500)
  recordMemory('at rest', running)
  const both = round % 2 === 0 ? NAMES : NAMES.toReversed()
  for (const name of both) await seed(running[name], STORED)
  const loaders = {
    base: createLoader(running.base, STORED),
    new: createLoader(running.new, STORED),
  }
  for (const name of both) await loaders[name].create(64, number(flags['warm-up']))

  const seconds = number(flags.seconds)
  const [creates, reads] = [
    both.map((name) => ({ name, load: loaders[name].create })),
    both.map((name) => ({ name, load: readOf(running[name], '/plants/#', STORED) })),
  ]
  for (const count of numbers(flags.connections)) {
    const plan = { rounds: 1, seconds, connections: [count] }
    recordLoads('create', await loadInTurn(creates, plan))
    recordLoads('read', await loadInTurn(reads, plan))
  }
  recordMemory('after load', running)

  for (const name of NAMES) {
    await running[name].stop()
    loaders[name].check((servers[name].rows?.(running[name].folder) ?? 0) - STORED)
    removeFolder(running[name].folder)
  }
}

await setUp(...(delay > 0 ? ['gcc'] : []))
// Both are fresh copies: resident memory depends on how a file was written to the page cache.
const folder = temporaryFolder()
const built = await executables()
for (const name of NAMES) copyFileSync(built[name], join(folder, name))
// An fsync of a daemon must not wait for them.
await run({ argv: ['sync', ...NAMES.map((name) => join(folder, name))] })
const servers = {
  base: plantstoreAt(join(folder, 'base'), 'base'),
  new: plantstoreAt(join(folder, 'new'), 'new'),
}
// A slow disk slows the start as well.
if (delay === 0) await measureStarts(servers)
for (let n = 1; n <= number(flags.rounds); n++) await measureRound(n, servers)

const shown = (value: number) => (value < 1000 ? decimals(value, 1) : thousands(value))
const rows = [...measured].map(([name, pairs]) => {
  const ratios = pairs.map((pair) => pair.new / pair.base)
  const [base, other] = NAMES.map((key) => pairs.map((pair) => pair[key]))
  // Other work on the machine only slows.
  const best = name.includes('s/s') ? Math.max : Math.min
  return [
    name,
    shown(median(base ?? [])),
    shown(median(other ?? [])),
    decimals(median(ratios)),
    `${decimals(quantile(ratios, 0.25))}-${decimals(quantile(ratios, 0.75))}`,
    decimals(best(...(other ?? [])) / best(...(base ?? []))),
  ]
})
console.log(table(['', 'base', 'new', 'new / base', 'quartiles', 'of the best'], rows))
