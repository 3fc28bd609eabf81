// `bun run reads`: reads of one plant, and of pages of 100 and 1000, in turn with a server that answers a constant. The
// same for a bare server that reads the same file.
import { measure, type Sample } from '../lib/alternate.ts'
import { seed } from '../lib/fill.ts'
import { number, numbers, readFlags } from '../lib/flags.ts'
import { plantstore } from '../lib/plantstore.ts'
import { removeFolder } from '../lib/processes.ts'
import { writeResults } from '../lib/results.ts'
import { type Running, startServer } from '../lib/server.ts'
import { bareReads, readCeiling } from '../lib/servers.ts'
import { setUp } from '../lib/setup.ts'
import { range } from '../lib/statistics.ts'
import { decimals, microseconds, milliseconds, table, thousands } from '../lib/table.ts'
import { wrk } from '../lib/wrk.ts'

const flags = readFlags('Reads of one plant and of pages.', {
  rounds: { default: '5', help: 'how often each read is measured' },
  seconds: { default: '4', help: 'seconds of load for each read in a round' },
  connections: { default: '1,64', help: 'connections at once' },
  plants: { default: '20000', help: 'plants in the store' },
})
const slices = number(flags.seconds)
const plants = number(flags.plants)
const reads = [
  { name: 'one plant', path: '/plants/#', constantPath: '/plants/#' },
  { name: 'page of 100', path: '/plants?limit=100&after=#', constantPath: '/pages/100/#' },
  { name: 'search of 5000', path: '/plants?name=nothing', constantPath: '/pages/100/#' },
  { name: 'page of 1000', path: '/plants?limit=1000&after=#', constantPath: '/pages/1000/#' },
]

await setUp()
const store = await startServer(plantstore)
await seed(store, 0, plants)
const bare = await startServer(bareReads, store.folder)
const constant = await startServer(readCeiling)
const readers = [
  { server: plantstore.name, running: store },
  { server: bareReads.name, running: bare },
]

const reader = (running: Running, path: string) => {
  // So that every page is full.
  const args = [path, running.create.token, String(Math.max(1, plants - 1000)), 'ascending']
  const { url, pid } = running
  return (connections: number, seconds: number) =>
    wrk('read', args, { url, pid, connections, seconds })
}

const samples: (Sample & { readonly server: string })[] = []
for (let n = 1; n <= number(flags.rounds); n++) {
  console.error(`round ${n} of ${flags.rounds}`)
  for (const connections of numbers(flags.connections)) {
    for (const { server, running } of readers) {
      for (const { name, path, constantPath } of reads) {
        const [own, least] = [reader(running, path), reader(constant, constantPath)]
        await own(connections, 1)
        await least(connections, 1)
        const sample = await measure(name, own, least, { connections, slices })
        samples.push({ server, ...sample })
      }
    }
  }
}
await Promise.all([store.stop(), bare.stop(), constant.stop()])
removeFolder(store.folder)

const rows = numbers(flags.connections).flatMap((connections) =>
  readers.flatMap(({ server }) =>
    reads.map(({ name }) => {
      const own = samples.filter(
        (s) => s.server === server && s.name === name && s.connections === connections,
      )
      const of = (value: (sample: Sample) => number) => range(own.map(value))
      return {
        server,
        read: name,
        connections,
        ratio: of((sample) => sample.ratio),
        perSecond: of((sample) => sample.perSecond),
        constantPerSecond: of((sample) => sample.reference.perSecond),
        cpu: of((sample) => sample.cpu),
        p50: of((sample) => sample.p50),
        p99: of((sample) => sample.p99),
      }
    }),
  ),
)

const head = ['server', 'read', 'connections', 'of constant', 'range', 'reads/s', 'constant/s']
head.push('CPU per read', 'p50', 'p99')
const cells = rows.map((row) => [
  row.server,
  row.read,
  String(row.connections),
  decimals(row.ratio[1]),
  `${decimals(row.ratio[0])}-${decimals(row.ratio[2])}`,
  thousands(row.perSecond[1]),
  thousands(row.constantPerSecond[1]),
  microseconds(row.cpu[1]),
  milliseconds(row.p50[1]),
  milliseconds(row.p99[1]),
])
console.log(table(head, cells))
writeResults('reads', { plants, figures: '[least, median, most]', rows })
