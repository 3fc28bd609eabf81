// `bun run pauses`: how long the serving daemon keeps a cheap request waiting, while others read pages and create.
import { importLines } from '../lib/fill.ts'
import { number, readFlags } from '../lib/flags.ts'
import { nthId } from '../lib/ids.ts'
import { plantstore } from '../lib/plantstore.ts'
import { type Answered, probe } from '../lib/probe.ts'
import { removeFolder, temporaryFolder } from '../lib/processes.ts'
import { writeResults } from '../lib/results.ts'
import { startServer } from '../lib/server.ts'
import { setUp } from '../lib/setup.ts'
import { median, quantile } from '../lib/statistics.ts'
import { milliseconds, table, thousands } from '../lib/table.ts'
import { allSucceeded, createLoader, wrk } from '../lib/wrk.ts'

const flags = readFlags('Pauses of the event loop of the daemon, as a client sees them.', {
  rounds: { default: '3', help: 'how often each load is measured' },
  seconds: { default: '5', help: 'seconds of each load' },
  connections: { default: '64', help: 'connections that create' },
  readers: { default: '4', help: 'connections that read pages' },
  every: { default: '1', help: 'milliseconds from an answer to the next request' },
})
const seconds = number(flags.seconds)
const [connections, readers] = [number(flags.connections), number(flags.readers)]

/** Plants by their tag: how many, and the characters of each name. The longest are about what a body may hold. */
const KINDS = [
  { tag: 'short', count: 20_000, name: 'Monstera deliciosa' },
  { tag: 'long', count: 3000, name: 'x'.repeat(1000) },
  { tag: 'escaped', count: 30, name: '\u0001'.repeat(170_000) },
  { tag: 'longest', count: 30, name: 'x'.repeat(1_000_000) },
]

/** Imports them one kind after another, so that each has a range of ids. */
async function fill(folder: string): Promise<number> {
  let next = 0
  for (const { tag, count, name } of KINDS) {
    const encoder = new TextEncoder()
    const end = next + count
    const stream = new ReadableStream({
      pull(controller) {
        if (next === end) return controller.close()
        const id = nthId('ascending', next++)
        controller.enqueue(encoder.encode(`${JSON.stringify({ id, name, tag })}\n`))
      },
    })
    await importLines(folder, stream)
  }
  return next
}

await setUp()
const folder = temporaryFolder()
const stored = await fill(folder)
const server = await startServer(plantstore, folder)
const loader = createLoader(server, 'ascending', stored)
const { url, pid } = server

async function create(): Promise<void> {
  allSucceeded(await loader.create(connections, seconds), 'creates')
}

async function readPages(tag: string): Promise<number> {
  const path = `/plants?limit=1000&tag=${tag}&after=#`
  // From the first id on, so that every page is full.
  const args = [path, server.create.token, '1', 'ascending']
  const load = await wrk('read', args, { url, pid, connections: readers, seconds })
  allSucceeded(load, tag)
  return load.perSecond
}

type Load = { readonly name: string; readonly run: () => Promise<unknown> }
const loads: Load[] = [
  { name: 'nothing', run: () => Bun.sleep(seconds * 1000) },
  { name: 'creates', run: create },
  ...KINDS.flatMap(({ tag }) => [
    { name: `pages, ${tag}`, run: () => readPages(tag) },
    { name: `pages, ${tag}, and creates`, run: () => Promise.all([readPages(tag), create()]) },
  ]),
]

async function measure({ run }: Load): Promise<Answered[]> {
  const over = new AbortController()
  const probing = probe(server, number(flags.every), over.signal)
  await run()
  over.abort()
  return await probing
}

await create()
const samples: { readonly name: string; readonly answers: Answered[] }[] = []
for (let n = 1; n <= number(flags.rounds); n++) {
  for (const load of loads) {
    console.error(`round ${n} of ${flags.rounds}: ${load.name}`)
    samples.push({ name: load.name, answers: await measure(load) })
  }
}
await server.stop()
removeFolder(folder)

const rows = loads.map(({ name }) => {
  const rounds = samples.filter((sample) => sample.name === name).map(({ answers }) => answers)
  const of = (q: number, field: keyof Answered) =>
    median(
      rounds.map((answers) =>
        quantile(
          answers.map((it) => it[field]),
          q,
        ),
      ),
    )
  return {
    load: name,
    requests: rounds.flat().length,
    p50: of(0.5, 'latency'),
    p99: of(0.99, 'latency'),
    longest: of(1, 'latency'),
    cpuP99: of(0.99, 'cpu'),
    cpuLongest: of(1, 'cpu'),
  }
})

const head = ['beside', 'requests', 'p50', 'p99', 'longest', 'p99 by CPU', 'longest by CPU']
const cells = rows.map((row) => [
  row.load,
  thousands(row.requests),
  ...[row.p50, row.p99, row.longest, row.cpuP99, row.cpuLongest].map(milliseconds),
])
console.log(table(head, cells))
writeResults('pauses', { seconds, connections, readers, figures: 'medians of the rounds', rows })
