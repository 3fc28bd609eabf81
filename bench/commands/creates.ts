// `bun run bench`: creates a second of every server, against the least a create can cost.
import { measure, type Sample } from '../lib/alternate.ts'
import { number, numbers, readFlags } from '../lib/flags.ts'
import { removeFolder } from '../lib/processes.ts'
import { writePicture, writeResults } from '../lib/results.ts'
import { type Server, startServer } from '../lib/server.ts'
import { ceiling, servers } from '../lib/servers.ts'
import { setUp } from '../lib/setup.ts'
import { median } from '../lib/statistics.ts'
import { bars } from '../lib/svg.ts'
import { decimals, microseconds, milliseconds, table, thousands } from '../lib/table.ts'
import { createLoader } from '../lib/wrk.ts'

const flags = readFlags('Creates a second of every server, side by side.', {
  rounds: { default: '5', means: 'how often every server is measured' },
  seconds: { default: '4', means: 'how long each server is loaded in a round' },
  connections: { default: '1,64,256', means: 'connections at once' },
  only: { default: '', means: 'names of servers, with commas' },
})
const rounds = number(flags.rounds)
const slices = number(flags.seconds)
const connections = numbers(flags.connections)
const only = flags.only ? flags.only.split(',') : undefined
const known = servers.map((server) => server.name)
for (const name of only ?? []) {
  if (known.includes(name)) continue
  console.error(`no server ${name}: there are ${known.join(', ')}`)
  process.exit(2)
}

await setUp({ peers: true })
const chosen = servers.filter(
  (server) => server !== ceiling && (only?.includes(server.name) ?? true),
)
const absent = chosen.filter((server) => server.missing?.())
const present = chosen.filter((server) => !server.missing?.())
const samples: Sample[] = []

const least = await startServer(ceiling)
const leastLoader = createLoader(least)
await leastLoader.create(64, 2)

async function round(server: Server): Promise<void> {
  const running = await startServer(server)
  const loader = createLoader(running)
  for (const count of connections) {
    await loader.create(count, 2)
    const load = { connections: count, slices }
    samples.push(await measure(server.name, loader.create, leastLoader.create, load))
  }
  // What wrk left in flight may still be on its way to the disk.
  await Bun.sleep(300)
  await running.stop()
  if (server.rows) loader.check(server.name, await server.rows(running.folder))
  removeFolder(running.folder)
}

for (let n = 1; n <= rounds; n++) {
  for (const server of present) {
    console.error(`round ${n} of ${rounds}: ${server.name}`)
    await round(server)
  }
}
await least.stop()

const of = (name: string, count: number) =>
  samples.filter((sample) => sample.name === name && sample.connections === count)
const middle = (chosen: Sample[], value: (sample: Sample) => number) => median(chosen.map(value))

function line(server: Server, count: number): string[] {
  const own = of(server.name, count)
  const ratios = own.map((sample) => sample.ratio)
  return [
    server.name,
    server.durable,
    decimals(median(ratios)),
    `${decimals(Math.min(...ratios))}-${decimals(Math.max(...ratios))}`,
    thousands(middle(own, (sample) => sample.perSecond)),
    milliseconds(middle(own, (sample) => sample.p50)),
    milliseconds(middle(own, (sample) => sample.p99)),
    microseconds(middle(own, (sample) => sample.cpu)),
  ]
}

const head = ['server', 'durable', 'of ceiling', 'range', 'creates/s', 'p50', 'p99']
head.push('CPU per create')
for (const count of connections) {
  const all = samples.filter((sample) => sample.connections === count)
  const first = [
    ceiling.name,
    ceiling.durable,
    '1.00',
    '',
    thousands(middle(all, (sample) => sample.reference.perSecond)),
    milliseconds(middle(all, (sample) => sample.reference.p50)),
    milliseconds(middle(all, (sample) => sample.reference.p99)),
    microseconds(middle(all, (sample) => sample.reference.cpu)),
  ]
  console.log(`\n${count} ${count === 1 ? 'connection' : 'connections'}\n`)
  console.log(table(head, [first, ...present.map((server) => line(server, count))]))
}

console.log('')
for (const server of present) console.log(`- ${server.name}: ${server.what}`)
for (const server of absent) console.log(`- ${server.name} did not run: ${server.missing?.()}`)
console.log('- TrailBase and PostgREST did not run: see README.md')

// A part of the servers makes no picture of them all.
if (!only) {
  writeResults('creates', { rounds, seconds: slices, samples })
  const drawn = connections.filter((count) => count > 1)
  writePicture(
    'creates',
    bars(
      'Creates a second, of what a server that keeps nothing can do',
      drawn.map((count) => `${count} connections`),
      present.map((server) => ({
        name: server.durable === 'no' ? `${server.name} (not durable)` : server.name,
        values: drawn.map((count) => middle(of(server.name, count), (sample) => sample.ratio)),
      })),
    ),
  )
}
