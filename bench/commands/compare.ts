// `bun run bench --compare COMMIT[,COMMIT]`: two builds of plantstore in alternating rounds, so that other work on the
// machine slows both. Each round starts both anew, because two processes of one executable differ in speed.
import { copyFileSync, existsSync } from 'node:fs'
import { join } from 'node:path'
import { buildCommit, commitExists } from '../lib/commits.ts'
import { cpuTime } from '../lib/cpu.ts'
import { seed } from '../lib/fill.ts'
import { number, numbers, readFlags } from '../lib/flags.ts'
import { build, plant, plantstoreAt, project, token } from '../lib/plantstore.ts'
import { memory } from '../lib/proc.ts'
import { removeFolder, run, temporaryFolder } from '../lib/processes.ts'
import { type Running, type Server, startServer } from '../lib/server.ts'
import { setUp } from '../lib/setup.ts'
import { withSlowSyncs } from '../lib/slow-disk.ts'
import { median, quantile } from '../lib/statistics.ts'
import { decimals, microseconds, table, thousands } from '../lib/table.ts'
import { allSucceeded, createLoader, type Load, wrk } from '../lib/wrk.ts'

const flags = readFlags(
  'Compares two builds of plantstore in alternating rounds. The first is the base.',
  {
    compare: { default: '', help: 'COMMIT (against the working tree) or COMMIT,COMMIT' },
    'compare-binaries': { default: '', help: 'PATH,PATH: two executables' },
    rounds: { default: '9', help: 'how often both are started and measured' },
    seconds: { default: '1', help: 'seconds of load at each number of connections' },
    connections: { default: '1,64,256', help: 'connections at once' },
    names: { default: 'same', help: 'same, or random: of the plants that are created' },
    'new-env': { default: '', help: 'NAME=VALUE in the environment of the second' },
    starts: { default: '15', help: 'how often the start of each is timed' },
    'warm-up': { default: '1', help: 'seconds of load first; the JIT compiles for about ten' },
    'fsync-ms': { default: '0', help: 'milliseconds added to each fsync' },
  },
)
const rounds = number(flags.rounds)
const seconds = number(flags.seconds)
const connections = numbers(flags.connections)
const delay = number(flags['fsync-ms'])
// Plants that are read, and stored before all others.
const STORED = 2000
if (!['same', 'random'].includes(flags.names)) refuse('--names is same or random')

function refuse(message: string): never {
  console.error(message)
  process.exit(2)
}

/** The two executables. Ends the command with 2 unless the flags name two. */
async function executables(): Promise<{ base: string; other: string }> {
  const given = flags['compare-binaries'] || flags.compare
  const [base = '', other = '', ...more] = given.split(',')
  if (!base || more.length > 0) refuse('give one or two commits, or two executables')
  if (flags['compare-binaries']) {
    if (!other) refuse('--compare-binaries takes PATH,PATH')
    for (const path of [base, other]) if (!existsSync(path)) refuse(`no executable at ${path}`)
    return { base, other }
  }
  for (const commit of [base, other]) {
    if (commit && !commitExists(commit)) refuse(`no commit ${commit}`)
  }
  return {
    base: await buildCommit(base),
    other: await (other ? buildCommit(other) : build(project)),
  }
}

type Pair = { base: number; other: number }

/** Measures one after the other; the base first if `turn` is even. */
async function inTurn(
  turn: number,
  measure: (server: 'base' | 'other') => Promise<number>,
): Promise<Pair> {
  const isBaseFirst = turn % 2 === 0
  const first = await measure(isBaseFirst ? 'base' : 'other')
  const second = await measure(isBaseFirst ? 'other' : 'base')
  return isBaseFirst ? { base: first, other: second } : { base: second, other: first }
}

/** A unit of figures, and the best of them. */
type Unit = { show: (value: number) => string; best: (...values: number[]) => number }
const MEBIBYTES: Unit = { show: (bytes) => `${decimals(bytes / 2 ** 20, 1)} MiB`, best: Math.min }
const MILLISECONDS: Unit = { show: (value) => `${decimals(value, 1)} ms`, best: Math.min }
const CPU_TIME: Unit = { show: microseconds, best: Math.min }
const RATE: Unit = { show: thousands, best: Math.max }

const measured = new Map<string, { unit: Unit; pairs: Pair[] }>()
function record(name: string, unit: Unit, pair: Pair): void {
  const { pairs } = measured.get(name) ?? { pairs: [] }
  measured.set(name, { unit, pairs: [...pairs, pair] })
}

async function measureStarts(servers: Record<'base' | 'other', Server>): Promise<void> {
  const folders = { base: temporaryFolder(), other: temporaryFolder() }
  const cpu = { base: 0, other: 0 }
  const startOnce = async (name: 'base' | 'other') => {
    const running = await startServer(servers[name], folders[name])
    cpu[name] = cpuTime(running.pid)
    await running.stop()
    return running.startMs
  }
  // The first start creates the store and reads the executable into the page cache.
  await inTurn(0, startOnce)
  for (let n = 0; n < number(flags.starts); n++) {
    record('start', MILLISECONDS, await inTurn(n, startOnce))
    record('CPU of the start', CPU_TIME, { ...cpu })
  }
}

const loaderOf = (running: Running) => createLoader(running, 'ascending', STORED)

/** Reads single plants. */
async function readSome({ url, pid, create }: Running, count: number): Promise<Load> {
  const args = ['/plants/#', create.token, String(STORED), 'ascending']
  const load = await wrk('read', args, { url, pid, connections: count, seconds })
  allSucceeded(load, 'reads')
  return load
}

async function measureRound(
  round: number,
  servers: Record<'base' | 'other', Server>,
): Promise<void> {
  const started = (server: Server): Promise<Running> =>
    startServer(server, undefined, withSlowSyncs(delay))
  const running = { base: await started(servers.base), other: await started(servers.other) }
  await Bun.sleep(500)
  const loaders = { base: loaderOf(running.base), other: loaderOf(running.other) }
  const used = { base: memory(running.base.pid), other: memory(running.other.pid) }
  const recordMemory = (when: string) => {
    for (const kind of ['resident', 'anonymous'] as const) {
      const pair = { base: used.base[kind], other: used.other[kind] }
      record(`${kind} ${when}`, MEBIBYTES, pair)
    }
  }

  recordMemory('at rest')
  for (const server of Object.values(running)) await seed(server, 0, STORED)
  for (const loader of Object.values(loaders)) await loader.create(64, number(flags['warm-up']))
  for (const [index, count] of connections.entries()) {
    const cpu = { base: 0, other: 0 }
    const rates = await inTurn(round + index, async (name) => {
      const load = await loaders[name].create(count, seconds)
      allSucceeded(load, name)
      cpu[name] = load.cpu
      // Before it is idle: Bun then returns memory to the system.
      used[name] = memory(running[name].pid)
      return load.perSecond
    })
    record(`creates/s, ${count}`, RATE, rates)
    record(`CPU per create, ${count}`, CPU_TIME, cpu)
    const readCpu = { base: 0, other: 0 }
    const reads = await inTurn(round + index, async (name) => {
      const load = await readSome(running[name], count)
      readCpu[name] = load.cpu
      return load.perSecond
    })
    record(`reads/s, ${count}`, RATE, reads)
    record(`CPU per read, ${count}`, CPU_TIME, readCpu)
  }
  recordMemory('after load')

  for (const name of ['base', 'other'] as const) {
    await running[name].stop()
    loaders[name].check(((await servers[name].rows?.(running[name].folder)) ?? 0) - STORED)
    removeFolder(running[name].folder)
  }
}

await setUp({ slowDisk: delay > 0 })
// Both are fresh copies: resident memory depends on how a file was written to the page cache.
const folder = temporaryFolder()
const [base, other] = [join(folder, 'base'), join(folder, 'new')]
const built = await executables()
copyFileSync(built.base, base)
copyFileSync(built.other, other)
// An fsync of a daemon must not wait for them.
await run({ argv: ['sync', base, other] })
const named = flags.names === 'random' ? plant.replace('Monstera deliciosa', '$') : plant
const [variable = '', value = ''] = flags['new-env'].split('=')
function serverAt(executable: string, name: string, more: Record<string, string>): Server {
  const server = plantstoreAt(executable, name)
  return {
    ...server,
    command(port, folder) {
      const command = server.command(port, folder)
      return { ...command, env: { ...command.env, ...more } }
    },
    create: () => ({ path: '/plants', token, body: named }),
  }
}
const servers = {
  base: serverAt(base, 'base', {}),
  other: serverAt(other, 'new', variable ? { [variable]: value } : {}),
}
// A slow disk slows the start as well.
if (delay === 0) await measureStarts(servers)
for (let n = 1; n <= rounds; n++) {
  console.error(`round ${n} of ${rounds}`)
  await measureRound(n, servers)
}

const rows = [...measured].map(([name, { unit, pairs }]) => {
  const ratios = pairs.map((pair) => pair.other / pair.base)
  const ratio = (q: number) => decimals(quantile(ratios, q))
  const [ofBase, ofOther] = [pairs.map((pair) => pair.base), pairs.map((pair) => pair.other)]
  return [
    name,
    unit.show(median(ofBase)),
    unit.show(median(ofOther)),
    ratio(0.5),
    `${ratio(0.25)}-${ratio(0.75)}`,
    // Other work on the machine only slows.
    decimals(unit.best(...ofOther) / unit.best(...ofBase)),
  ]
})
console.log(table(['', 'base', 'new', 'new / base', 'quartiles', 'of the best'], rows))
