// `bun run soak`: mixed load for a long time; memory, open files and latency must stay flat.
import { seed } from '../lib/fill.ts'
import { number, readFlags } from '../lib/flags.ts'
import { plantstore } from '../lib/plantstore.ts'
import { memory, openFiles } from '../lib/proc.ts'
import { removeFolder } from '../lib/processes.ts'
import { writePicture, writeResults } from '../lib/results.ts'
import { startServer } from '../lib/server.ts'
import { setUp } from '../lib/setup.ts'
import { range, trend } from '../lib/statistics.ts'
import { lines } from '../lib/svg.ts'
import { decimals, megabytes, microseconds, milliseconds, table, thousands } from '../lib/table.ts'
import { allSucceeded, wrk } from '../lib/wrk.ts'

const flags = readFlags('Creates, reads, lists, replacements and deletions for a long time.', {
  minutes: { default: '30', help: 'minutes of load' },
  every: { default: '30', help: 'seconds from one sample to the next' },
  connections: { default: '64', help: 'connections at once' },
  plants: { default: '20000', help: 'plants in the store; deletions keep the number' },
})
const minutes = number(flags.minutes)
const every = number(flags.every)
const connections = number(flags.connections)
const plants = number(flags.plants)
const margin = 4 * connections

type Sample = {
  minute: number
  perSecond: number
  p50: number
  p99: number
  cpu: number
  resident: number
  files: number
}

await setUp()
const server = await startServer(plantstore)
await seed(server, 0, plants)
let [low, high] = [0, plants]
const samples: Sample[] = []

const from = performance.now()
while (performance.now() - from < minutes * 60_000) {
  const args = [server.create.token, String(low), String(high), String(margin)]
  const { url, pid } = server
  const load = await wrk('mixed', args, { url, pid, connections, seconds: every })
  allSucceeded(load)
  const [lowest = 0, highest = 0] = load.counters.split(' ').map(Number)
  // Creates in flight when wrk ended may be missing.
  await seed(server, Math.max(high, highest - margin), highest)
  ;[low, high] = [lowest, highest]
  const sample = {
    minute: (performance.now() - from) / 60_000,
    perSecond: load.perSecond,
    p50: load.p50,
    p99: load.p99,
    cpu: load.cpu,
    resident: memory(pid).resident,
    files: openFiles(pid),
  }
  samples.push(sample)
  console.error(
    `${decimals(sample.minute, 1)} min: ${thousands(sample.perSecond)}/s, p99 ${milliseconds(sample.p99)}, ${megabytes(sample.resident)}, ${sample.files} files`,
  )
}
await server.stop()
const rows = (await plantstore.rows?.(server.folder)) ?? 0
removeFolder(server.folder)

// The first quarter is warm-up; a leak would show in the rest.
const steady = samples.slice(Math.floor(samples.length / 4))
type Measure = { name: string; value: (sample: Sample) => number; show: (value: number) => string }
const measures: Measure[] = [
  { name: 'requests/s', value: (sample) => sample.perSecond, show: thousands },
  { name: 'p50', value: (sample) => sample.p50, show: milliseconds },
  { name: 'p99', value: (sample) => sample.p99, show: milliseconds },
  { name: 'CPU per request', value: (sample) => sample.cpu, show: microseconds },
  { name: 'RSS', value: (sample) => sample.resident, show: megabytes },
  { name: 'open files', value: (sample) => sample.files, show: (files) => decimals(files, 0) },
]
const span = (steady.at(-1)?.minute ?? 0) - (steady[0]?.minute ?? 0)
const signed = (share: number) => `${share >= 0 ? '+' : ''}${decimals(share * 100, 1)}%`

// Flat: a drift of less than a tenth, or within the noise.
function judge({ name, value }: Measure) {
  const figures = range(steady.map(value))
  const { slope, error } = trend(steady.map((sample) => ({ x: sample.minute, y: value(sample) })))
  const [drift, noise] = [(slope * span) / figures[1], (2 * error * span) / figures[1]]
  return { name, figures, drift, noise, isFlat: Math.abs(drift) < Math.max(0.1, noise) }
}
const verdicts = measures.map(judge)
const cells = verdicts.map(({ name, figures, drift, noise, isFlat }, n) => [
  name,
  ...figures.map((figure) => measures[n]?.show(figure) ?? ''),
  `${signed(drift)} ± ${decimals(noise * 100, 1)}%`,
  isFlat ? 'flat' : 'not flat',
])
console.log(table(['', 'least', 'median', 'most', 'drift', ''], cells))
console.log(`\n${thousands(rows)} plants at the end, ${thousands(plants)} at the start`)
writeResults('soak', {
  minutes,
  connections,
  plants,
  plantsAtEnd: rows,
  figures: '[least, median, most]',
  rows: verdicts,
})
writePicture(
  'soak',
  lines(
    'plantstore under mixed load',
    measures.map(({ name, value, show }) => ({
      title: name,
      show,
      lines: [{ name: 'plantstore', points: samples.map((s) => ({ x: s.minute, y: value(s) })) }],
    })),
    (minute) => `${decimals(minute, 1)} min`,
  ),
)
