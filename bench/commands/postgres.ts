// `bun run postgres`: creates with PostgreSQL, in turn with the embedded engine and with one INSERT per create.
import { type Contender, type Figures, startContender } from '../lib/contenders.ts'
import { buildDelayProxy, startDelayProxy } from '../lib/delay-proxy.ts'
import { number, numbers, readFlags } from '../lib/flags.ts'
import { countRows, database, plantstore, plantstoreBefore } from '../lib/plantstore.ts'
import { findPostgres, startServer } from '../lib/postgres.ts'
import { measureReaders } from '../lib/readers.ts'
import { writeResults } from '../lib/results.ts'
import type { Server } from '../lib/server.ts'
import { insertEach } from '../lib/servers.ts'
import { setUp } from '../lib/setup.ts'
import { withSlowSyncs } from '../lib/slow-disk.ts'
import { range } from '../lib/statistics.ts'
import { decimals, microseconds, milliseconds, table, thousands } from '../lib/table.ts'

const flags = readFlags('Creates with PostgreSQL, in turn with the embedded engine.', {
  rounds: { default: '7', help: 'how often each server is loaded' },
  seconds: { default: '2', help: 'seconds of load at a time' },
  connections: { default: '1,64,256', help: 'connections at once' },
  'round-trip-ms': { default: '8', help: 'milliseconds of round trip to the server that is far' },
  'fsync-ms': { default: '0', help: 'milliseconds added to each fsync; the results are not kept' },
  pool: { default: '10', help: 'connections of one INSERT per create' },
  'keep-changes': { default: '', help: 'one and two plantstores with a change log as well: 1d' },
  readers: { default: '', help: 'instead: so many read-only plantstores in turn, such as 0,1,2,4' },
  other: { default: '', help: 'another executable of plantstore, loaded as well' },
  postgres: { default: '', help: 'folder of the programs of PostgreSQL; newest that is found' },
})
const rounds = number(flags.rounds)
const seconds = number(flags.seconds)
const connections = numbers(flags.connections)
const pool = number(flags.pool)
const roundTrip = number(flags['round-trip-ms'])
const delay = number(flags['fsync-ms'])
const onDisk = withSlowSyncs(delay)

const EMBEDDED = 'plantstore, embedded engine'
const ONE = 'plantstore, PostgreSQL'
const TWO = 'two plantstores, PostgreSQL'
const FAR = `plantstore, PostgreSQL, ${roundTrip} ms away`
const INSERTS = 'one INSERT per create, PostgreSQL'

await setUp({ slowDisk: delay > 0 })
if (flags.readers) {
  await measureReaders(numbers(flags.readers), rounds, seconds)
  process.exit(0)
}
const postgres = await startServer(await findPostgres(flags.postgres), onDisk)
const isBuilt = await buildDelayProxy().then(
  () => true,
  (error) => console.error(`without a server that is far: ${error.message}`),
)
const proxy = isBuilt ? await startDelayProxy(postgres.port, roundTrip) : undefined

/** Servers before a database of their own. */
async function before(
  data: string,
  name: string,
  count: number,
  serverAt: (url: string, name: string) => Server,
  isLoadedBy: Contender['isLoadedBy'] = () => true,
  port = postgres.port,
): Promise<Contender> {
  await postgres.query(`CREATE DATABASE ${data}`)
  const servers = Array.from({ length: count }, () => serverAt(postgres.url(data, port), name))
  const rows = async () => {
    const [row] = await postgres.query('SELECT count(*) AS rows FROM plants', data)
    return Number(row?.rows)
  }
  return startContender({ name, servers, rows, postgresPid: postgres.pid, isLoadedBy })
}

// With few clients, a server that is far is limited by its distance alone.
const isFar = (count: number) => count >= 64
const isShared = (count: number) => count > 1
const plain = (url: string, name: string) => plantstoreBefore(url, name)
const contenders = [
  await startContender({
    name: EMBEDDED,
    servers: [plantstore],
    rows: (folder) => countRows(database(folder)),
    postgresPid: postgres.pid,
    wrapped: onDisk,
  }),
  await before('one', ONE, 1, plain),
  await before('inserts', INSERTS, 1, (url, name) => insertEach(url, name, pool)),
  await before('two', TWO, 2, plain, isShared),
]
if (proxy) contenders.push(await before('far', FAR, 1, plain, isFar, proxy.port))
if (flags['keep-changes']) {
  const options = ['--keep-changes', flags['keep-changes']]
  const logging = (url: string, name: string) => plantstoreBefore(url, name, { options })
  contenders.push(await before('one_log', `${ONE}, change log`, 1, logging))
  contenders.push(await before('two_log', `${TWO}, change log`, 2, logging, isShared))
}
if (flags.other) {
  const other = (url: string, name: string) => plantstoreBefore(url, name, { program: flags.other })
  contenders.push(await before('other', flags.other, 1, other))
  const far = `${flags.other}, ${roundTrip} ms away`
  if (proxy) contenders.push(await before('other_far', far, 1, other, isFar, proxy.port))
}

/** The figures of one contender in one round. */
type Sample = { name: string; connections: number; round: number; figures: Figures }
const samples: Sample[] = []

for (const contender of contenders) await contender.load(64, 1)
for (let round = 1; round <= rounds; round++) {
  console.error(`round ${round} of ${rounds}`)
  for (const count of connections) {
    // Each comes first, and last, as often as the others.
    const loaded = contenders.filter((contender) => contender.isLoadedBy(count))
    const first = round % loaded.length
    for (const contender of [...loaded.slice(first), ...loaded.slice(0, first)]) {
      const figures = await contender.load(count, seconds)
      samples.push({ name: contender.name, connections: count, round, figures })
    }
  }
}
const [conflicts] = await postgres.query('SELECT sum(deadlocks) AS sum FROM pg_stat_database')
const deadlocks = Number(conflicts?.sum)
for (const contender of contenders) await contender.end()
await proxy?.stop()
await postgres.stop()

const of = (name: string, count: number) =>
  samples.filter((sample) => sample.name === name && sample.connections === count)

/** The ratio to the creates of another server in the same round: [least, median, most]. */
function ratio(name: string, count: number, other: string) {
  const others = of(other, count)
  const ratios = of(name, count).flatMap(({ round, figures }) =>
    others
      .filter((other) => other.round === round)
      .map((other) => figures.perSecond / other.figures.perSecond),
  )
  return range(ratios)
}

const rows = connections.flatMap((count) =>
  contenders
    .filter((contender) => contender.isLoadedBy(count))
    .map(({ name }) => {
      const all = of(name, count).map(({ figures }) => figures)
      const field = (key: keyof Figures) => range(all.map((figures) => figures[key]))
      return {
        server: name,
        connections: count,
        perSecond: field('perSecond'),
        ofEmbedded: ratio(name, count, EMBEDDED),
        ofInserts: ratio(name, count, INSERTS),
        ofOne: ratio(name, count, ONE),
        cpu: field('cpu'),
        postgresCpu: field('postgres'),
        p50: field('p50'),
        p99: field('p99'),
      }
    }),
)

const shown = ([least, middle, most]: readonly number[]) =>
  `${decimals(middle ?? Number.NaN)} (${decimals(least ?? Number.NaN)}-${decimals(most ?? Number.NaN)})`
const head = ['server', 'creates/s', 'of embedded', 'of INSERTs', 'of one plantstore']
head.push('CPU per create', 'of PostgreSQL', 'p50', 'p99')
for (const count of connections) {
  console.log(`\n${count} ${count === 1 ? 'connection' : 'connections'}\n`)
  const cells = rows
    .filter((row) => row.connections === count)
    .map((row) => [
      row.server,
      thousands(row.perSecond[1]),
      shown(row.ofEmbedded),
      shown(row.ofInserts),
      shown(row.ofOne),
      microseconds(row.cpu[1]),
      microseconds(row.postgresCpu[1]),
      milliseconds(row.p50[1]),
      milliseconds(row.p99[1]),
    ])
  console.log(table(head, cells))
}
console.log(`\n${postgres.version}, deadlocks: ${deadlocks}`)
// Only what is asked for without a change log, another executable or disk is kept.
if (!flags['keep-changes'] && !flags.other && delay === 0) {
  writeResults('postgres', {
    version: postgres.version,
    rounds,
    seconds,
    pool,
    roundTripMs: roundTrip,
    deadlocks,
    figures: '[least, median, most]',
    rows,
  })
}
