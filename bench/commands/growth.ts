// `bun run growth`: creates per second, latency and memory as the store grows.
import { statSync } from 'node:fs'
import { type Figures, measure } from '../lib/alternate.ts'
import { importPlants } from '../lib/fill.ts'
import { number, readFlags } from '../lib/flags.ts'
import type { Order } from '../lib/ids.ts'
import { database, plantstore } from '../lib/plantstore.ts'
import { memory } from '../lib/proc.ts'
import { removeFolder, temporaryFolder } from '../lib/processes.ts'
import { writePicture, writeResults } from '../lib/results.ts'
import { startServer } from '../lib/server.ts'
import { ceiling } from '../lib/servers.ts'
import { setUp } from '../lib/setup.ts'
import { lines, type Panel } from '../lib/svg.ts'
import { decimals, megabytes, microseconds, milliseconds, table, thousands } from '../lib/table.ts'
import { allSucceeded, createLoader, wrk } from '../lib/wrk.ts'

const flags = readFlags('Creates per second, latency, memory and file size as the store grows.', {
  plants: { default: '10000000', help: 'plants in the store at the end' },
  orders: { default: 'ascending,random', help: 'order of the ids: ascending, random or both' },
  fill: { default: 'http', help: 'how plants are added between measurements: http or import' },
  connections: { default: '64', help: 'connections at once' },
  seconds: { default: '12', help: 'seconds of load at each size' },
})
const plantsAtEnd = number(flags.plants)
const connections = number(flags.connections)
const slices = Math.max(1, Math.round(number(flags.seconds) / 4))
const sizes = [...[0, 1e5, 1e6, 2e6, 5e6, 1e7].filter((size) => size < plantsAtEnd), plantsAtEnd]

type Point = Figures & {
  order: Order
  plants: number
  ratio: number
  resident: number
  peak: number
  file: number
  /** The longest read during creates, in microseconds: one thread answers all connections. */
  longestRead: number
}

await setUp()
const ceilingServer = await startServer(ceiling)
const ceilingLoader = createLoader(ceilingServer)

const sizeOf = (file: string) => statSync(file, { throwIfNoEntry: false })?.size ?? 0

async function grow(order: Order): Promise<Point[]> {
  const folder = temporaryFolder()
  const file = database(folder)
  const points: Point[] = []
  let server = await startServer(plantstore, folder)
  const loader = createLoader(server, order)
  let plants = 0
  for (const size of sizes) {
    if (flags.fill === 'import' && loader.next() < size) {
      const from = loader.next()
      await server.stop()
      await importPlants(folder, order, from, size)
      server = await startServer(plantstore, folder)
      // The start dropped the file from the page cache; a store that grew over HTTP has it there.
      for await (const _ of Bun.file(file).stream());
      loader.resume(server, size - from)
      plants += size - from
    }
    const create = async (count: number, seconds: number) => {
      const load = await loader.create(count, seconds)
      allSucceeded(load)
      plants += load.requests
      return load
    }
    while (plants < size) await create(256, Math.min(20, Math.ceil((size - plants) / 30_000)))
    await create(connections, 1)
    const at = plants
    const sample = await measure('plantstore', create, ceilingLoader.create, {
      connections,
      slices,
      seconds: 4,
    })
    // An id that wrk left in flight may be missing; its 404 is answered the same way.
    const reading = ['/plants/#', server.create.token, String(at), order]
    const [, reads] = await Promise.all([
      create(connections, 4),
      wrk('read', reading, { url: server.url, pid: server.pid, connections: 1, seconds: 4 }),
    ])
    const { perSecond, cpu, p50, p99, p999, max, ratio } = sample
    const { resident, peak } = memory(server.pid)
    points.push({
      order,
      plants: at,
      ratio,
      perSecond,
      cpu,
      p50,
      p99,
      p999,
      max,
      longestRead: reads.max,
      resident,
      peak,
      file: sizeOf(file) + sizeOf(`${file}-wal`),
    })
    console.error(`${order}: ${thousands(at)} plants, ${thousands(perSecond)} creates/s`)
  }
  await server.stop()
  loader.check(plantstore.rows ? await plantstore.rows(folder) : 0)
  removeFolder(folder)
  return points
}

const orders = flags.orders.split(',') as Order[]
const grown: Point[][] = []
for (const order of orders) grown.push(await grow(order))
await ceilingServer.stop()

const head = ['ids', 'plants', 'creates/s', 'of ceiling', 'CPU', 'p50', 'p99', 'p99.9']
head.push('max', 'longest read', 'RSS', 'peak RSS', 'file')
const line = (point: Point) => [
  point.order,
  thousands(point.plants),
  thousands(point.perSecond),
  decimals(point.ratio),
  microseconds(point.cpu),
  ...[point.p50, point.p99, point.p999, point.max, point.longestRead].map(milliseconds),
  ...[point.resident, point.peak, point.file].map(megabytes),
]
console.log(table(head, grown.flat().map(line)))
writeResults('growth', { connections, rows: grown.flat() })

function panel(title: string, value: (point: Point) => number, show: Panel['show']): Panel {
  return {
    title,
    show,
    lines: grown.map((points, n) => ({
      name: `${orders[n]} ids`,
      points: points.map((point) => ({ x: point.plants, y: value(point) })),
    })),
  }
}
writePicture(
  'growth',
  lines(
    'plantstore as it grows',
    [
      panel('creates per second, as a part of the ceiling', (point) => point.ratio, decimals),
      panel('p99 of a create', (point) => point.p99, milliseconds),
      panel('p99.9 of a create', (point) => point.p999, milliseconds),
      panel('resident memory', (point) => point.resident, megabytes),
      panel('file', (point) => point.file, megabytes),
    ],
    (plants) => `${decimals(plants / 1e6, plantsAtEnd < 1e6 ? 2 : 1)} M`,
  ),
)
