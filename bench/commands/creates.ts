// `bun run bench`: creates per second of each server, in turn with the ceiling.
import { type Figures, measure, type Sample } from '../lib/alternate.ts'
import { number, numbers, readFlags } from '../lib/flags.ts'
import { plantstore } from '../lib/plantstore.ts'
import { removeFolder } from '../lib/processes.ts'
import { writePicture, writeResults } from '../lib/results.ts'
import { type Server, startServer } from '../lib/server.ts'
import { ceiling, servers } from '../lib/servers.ts'
import { setUp } from '../lib/setup.ts'
import { withSlowSyncs } from '../lib/slow-disk.ts'
import { range } from '../lib/statistics.ts'
import { bars } from '../lib/svg.ts'
import { decimals, microseconds, milliseconds, table, thousands } from '../lib/table.ts'
import { createLoader } from '../lib/wrk.ts'

const flags = readFlags(
  'Creates per second of each server. Two builds of plantstore: --compare=COMMIT --help.',
  {
    rounds: { default: '5', help: 'how often each server is started and measured' },
    seconds: { default: '1', help: 'seconds of load at each number of connections' },
    connections: { default: '1,64,256', help: 'connections at once' },
    only: { default: '', help: 'names of servers, separated by commas' },
    against: { default: ceiling.name, help: 'server that the others are compared with' },
    'fsync-ms': { default: '0', help: 'milliseconds added to each fsync' },
  },
)
const rounds = number(flags.rounds)
const slices = number(flags.seconds)
const connections = numbers(flags.connections)
const delay = number(flags['fsync-ms'])

function named(name: string): Server {
  const server = servers.find((one) => one.name === name)
  if (server) return server
  console.error(`unknown server ${name}; known: ${servers.map((one) => one.name).join(', ')}`)
  process.exit(2)
}
const reference = named(flags.against)
const chosen = (flags.only ? flags.only.split(',').map(named) : servers).filter(
  (server) => server !== reference,
)

/** The reason that a server has no figures, at one number of connections or at all. */
type Failure = { server: Server; connections?: number; why: string }
const failures: Failure[] = []
const samples: Sample[] = []

function fail(server: Server, error: unknown, count?: number): void {
  const message = error instanceof Error ? error.message : String(error)
  console.error(`${server.name} failed: ${message}`)
  const [why = ''] = message.split('\n')
  failures.push({ server, why, ...(count === undefined ? {} : { connections: count }) })
}

const failureOf = (server: Server, count: number) =>
  failures.find(
    (failure) =>
      failure.server === server &&
      (failure.connections === undefined || failure.connections === count),
  )

await setUp({ slowDisk: delay > 0 })
for (const server of chosen) {
  const why =
    delay > 0 && server.syncsByItself ? 'its syncs are not delayed' : server.unavailable?.()
  if (why) failures.push({ server, why })
}
const onDisk = withSlowSyncs(delay)
const referenceServer = await startServer(reference, undefined, onDisk)
const referenceLoader = createLoader(referenceServer)
await referenceLoader.create(64, 2)

async function measureServer(server: Server): Promise<void> {
  const running = await startServer(server, undefined, onDisk)
  const loader = createLoader(running)
  try {
    await loader.create(64, 1)
    for (const count of connections) {
      if (failureOf(server, count)) continue
      try {
        const load = { connections: count, slices }
        samples.push(await measure(server.name, loader.create, referenceLoader.create, load))
      } catch (error) {
        fail(server, error, count)
      }
    }
    // These answer before they write.
    if (server.durable === 'no') await Bun.sleep(2000)
  } finally {
    await running.stop()
  }
  if (server.rows) loader.check(await server.rows(running.folder))
  removeFolder(running.folder)
}

for (let n = 1; n <= rounds; n++) {
  for (const server of chosen) {
    if (connections.every((count) => failureOf(server, count))) continue
    console.error(`round ${n} of ${rounds}: ${server.name}`)
    try {
      await measureServer(server)
    } catch (error) {
      fail(server, error)
    }
  }
}
await referenceServer.stop()
if (reference.rows) referenceLoader.check(await reference.rows(referenceServer.folder))

const figuresOf = (server: Server, count: number): { ratio: number; figures: Figures }[] => {
  const all = samples.filter((sample) => sample.connections === count)
  if (server === reference) return all.map(({ reference }) => ({ ratio: 1, figures: reference }))
  const own = all.filter((sample) => sample.name === server.name)
  return own.map((sample) => ({ ratio: sample.ratio, figures: sample }))
}

/** A row of the table, its figures as [least, median, most] of the rounds; times in microseconds. */
function summarize(server: Server, count: number) {
  const all = figuresOf(server, count)
  const of = (name: keyof Figures) => range(all.map(({ figures }) => figures[name]))
  return {
    server: server.name,
    durable: server.durable,
    connections: count,
    ratio: range(all.map(({ ratio }) => ratio)),
    perSecond: of('perSecond'),
    cpu: of('cpu'),
    p50: of('p50'),
    p99: of('p99'),
  }
}

const rows = connections.flatMap((count) =>
  [reference, ...chosen].map((server) => {
    const failed = failureOf(server, count)?.why
    if (failed === undefined) return summarize(server, count)
    return { server: server.name, durable: server.durable, connections: count, failed }
  }),
)

function cells(row: (typeof rows)[number]): string[] {
  if ('failed' in row) return [row.server, row.durable, ...Array(6).fill('-'), row.failed]
  const [least, middle, most] = row.ratio
  return [
    row.server,
    row.durable,
    decimals(middle),
    `${decimals(least)}-${decimals(most)}`,
    thousands(row.perSecond[1]),
    microseconds(row.cpu[1]),
    milliseconds(row.p50[1]),
    milliseconds(row.p99[1]),
    '',
  ]
}

const head = ['server', 'durable', `of ${reference.name}`, 'range', 'creates/s', 'CPU per create']
head.push('p50', 'p99', 'note')
for (const count of connections) {
  console.log(`\n${count} ${count === 1 ? 'connection' : 'connections'}\n`)
  console.log(table(head, rows.filter((row) => row.connections === count).map(cells)))
}
console.log('')
for (const server of [reference, ...chosen]) console.log(`- ${server.name}: ${server.description}`)

// Only a full run is kept.
if (!flags.only && reference === ceiling && delay === 0) {
  writeResults('creates', { rounds, seconds: slices, figures: '[least, median, most]', rows })
  const drawn = connections.filter((count) => count > 1)
  const ratios = (server: Server) => drawn.map((count) => summarize(server, count).ratio[1])
  writePicture(
    'creates',
    bars(
      'Creates per second, as a part of the ceiling',
      drawn.map((count) => `${count} connections`),
      chosen
        .filter((server) => !drawn.some((count) => failureOf(server, count)))
        .map((server) => ({
          name: server.durable === 'no' ? `${server.name} (not durable)` : server.name,
          values: ratios(server),
        })),
    ),
  )
}
if (failures.some(({ server }) => server === plantstore)) process.exitCode = 1
