// `bun run slow-disk`: creates and reads on a disk with slow syncs.
import { seed } from '../lib/fill.ts'
import { number, numbers, readFlags } from '../lib/flags.ts'
import { plantstore } from '../lib/plantstore.ts'
import { removeFolder } from '../lib/processes.ts'
import { writeResults } from '../lib/results.ts'
import { startServer } from '../lib/server.ts'
import { commitEach } from '../lib/servers.ts'
import { setUp } from '../lib/setup.ts'
import { withSlowSyncs } from '../lib/slow-disk.ts'
import { decimals, milliseconds, table, thousands } from '../lib/table.ts'
import { allSucceeded, createLoader, type Load, wrk } from '../lib/wrk.ts'

const flags = readFlags('Creates and reads on a disk with slow syncs.', {
  delays: { default: '0,5,20,100', help: 'milliseconds added to each fsync' },
  connections: { default: '256', help: 'connections at once' },
  seconds: { default: '10', help: 'seconds of load at each delay' },
})
const connections = number(flags.connections)
const seconds = number(flags.seconds)
const seeded = 2000

type Slow = { delay: number; creates: Load; reads: Load; each: Load }

/** The same load without group commit. */
async function measureEach(delay: number): Promise<Load> {
  const server = await startServer(commitEach, undefined, withSlowSyncs(delay))
  const creates = await createLoader(server).create(connections, seconds)
  allSucceeded(creates, commitEach.name)
  await server.stop()
  removeFolder(server.folder)
  return creates
}

async function measureAt(delay: number): Promise<Slow> {
  const server = await startServer(plantstore, undefined, withSlowSyncs(delay))
  await seed(server, 0, seeded)
  const loader = createLoader(server, 'ascending', seeded)
  await loader.create(connections, 2)
  const reading = ['/plants/#', server.create.token, String(seeded), 'ascending']
  const [creates, reads] = await Promise.all([
    loader.create(connections, seconds),
    wrk('read', reading, { url: server.url, pid: server.pid, connections: 1, seconds }),
  ])
  allSucceeded(creates)
  allSucceeded(reads)
  await Bun.sleep(delay * 3)
  await server.stop()
  loader.check(((await plantstore.rows?.(server.folder)) ?? 0) - seeded)
  removeFolder(server.folder)
  return { delay, creates, reads, each: await measureEach(delay) }
}

await setUp({ slowDisk: true })
const measured: Slow[] = []
for (const delay of numbers(flags.delays)) {
  console.error(`${delay} ms added to each fsync`)
  measured.push(await measureAt(delay))
}

const head = ['added to a sync', 'creates/s', 'connections / sync', 'ratio', 'p50', 'p99']
head.push('x a commit each', 'reads/s', 'read p50', 'read p99', 'read max')
const line = ({ delay, creates, reads, each }: Slow) => {
  const expected = connections / (delay / 1000)
  return [
    `${delay} ms`,
    thousands(creates.perSecond),
    thousands(expected),
    decimals(delay > 0 ? creates.perSecond / expected : Number.NaN),
    milliseconds(creates.p50),
    milliseconds(creates.p99),
    decimals(creates.perSecond / each.perSecond, 1),
    thousands(reads.perSecond),
    milliseconds(reads.p50),
    milliseconds(reads.p99),
    milliseconds(reads.max),
  ]
}
console.log(`${connections} connections create, one reads\n`)
console.log(table(head, measured.map(line)))
const rows = measured.map(({ delay, creates, reads, each }) => ({
  addedMs: delay,
  perSecond: creates.perSecond,
  p50: creates.p50,
  p99: creates.p99,
  commitEachPerSecond: each.perSecond,
  readsPerSecond: reads.perSecond,
  readP50: reads.p50,
  readP99: reads.p99,
  readMax: reads.max,
}))
writeResults('slow-disk', { connections, seconds, rows })
