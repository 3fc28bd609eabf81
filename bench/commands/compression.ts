// `bun run compression`: bytes and CPU of each answer that is compressed, with gzip and without, and how long a cheap
// request waits meanwhile.
import { number, readFlags } from '../lib/flags.ts'
import { nthId } from '../lib/ids.ts'
import { plantstore } from '../lib/plantstore.ts'
import { type Answered, probe } from '../lib/probe.ts'
import { removeFolder } from '../lib/processes.ts'
import { startServer } from '../lib/server.ts'
import { setUp } from '../lib/setup.ts'
import { median, quantile } from '../lib/statistics.ts'
import { microseconds, milliseconds, table, thousands } from '../lib/table.ts'
import { allSucceeded, type Load, wrk } from '../lib/wrk.ts'

const flags = readFlags('Compressed answers beside plain ones.', {
  rounds: { default: '3', help: 'how often each answer is measured' },
  seconds: { default: '2', help: 'seconds of each load' },
  connections: { default: '4', help: 'connections that read' },
})
const WORDS = ['Monstera', 'deliciosa', 'Ficus', 'lyrata', 'Calathea', 'Rosa', 'canina', 'Acer']
const PLANTS = 1000

const word = (n: number) => WORDS[n % WORDS.length] ?? ''
// Random text hardly compresses, and takes longest: of the most characters that are compressed.
const randomText = () =>
  String.fromCharCode(
    ...Array.from({ length: 55 }, () => 0x4e00 + Math.floor(Math.random() * 0x5000)),
  )
const KINDS = [
  { tag: 'names', name: (n: number) => `${word(n)} ${word(n * 7 + 3)} ${n}` },
  { tag: 'random', name: randomText },
]
// '#' becomes the id before the first plant.
const ANSWERS = [
  { name: '100 plants', path: '/plants?tag=names&after=#' },
  { name: '1000 plants', path: '/plants?tag=names&limit=1000&after=#' },
  { name: '1000 of random text', path: '/plants?tag=random&limit=1000&after=#' },
  { name: '/metrics', path: '/metrics?#' },
  { name: '/openapi.json', path: '/openapi.json?#' },
]

await setUp()
const store = await startServer(plantstore)
const { url, pid } = store
const { token } = store.create
const authorization = `Bearer ${token}`
for (const [kind, { tag, name }] of KINDS.entries()) {
  for (let from = 0; from < PLANTS; from += PLANTS / 4) {
    const plants = Array.from({ length: PLANTS / 4 }, (_, n) => {
      const id = nthId('ascending', 1 + kind * PLANTS + from + n)
      return { id, name: name(id), tag }
    })
    const body = JSON.stringify({ plants })
    const headers = { authorization, 'content-type': 'application/json' }
    const answer = await fetch(`${url}/plants/batch`, { method: 'POST', headers, body })
    if (!answer.ok) throw new Error(await answer.text())
  }
}

const rows: string[][] = []
for (const { name, path } of ANSWERS) {
  for (const coding of ['identity', 'gzip']) {
    console.error(`${name}: ${coding}`)
    const loads: Load[] = []
    const answered: Answered[] = []
    for (let round = 0; round < number(flags.rounds); round++) {
      const over = new AbortController()
      const probing = probe(store, 1, over.signal)
      const connections = number(flags.connections)
      const args = [path, token, '1', 'ascending', coding]
      const load = await wrk('read', args, {
        url,
        pid,
        connections,
        seconds: number(flags.seconds),
      })
      allSucceeded(load, name)
      over.abort()
      answered.push(...(await probing))
      loads.push(load)
    }
    const waits = answered.map(({ latency }) => latency)
    rows.push([
      name,
      coding,
      thousands(median(loads.map(({ bytes, requests }) => bytes / requests))),
      microseconds(median(loads.map(({ cpu }) => cpu))),
      thousands(median(loads.map(({ perSecond }) => perSecond))),
      milliseconds(quantile(waits, 0.99)),
      milliseconds(quantile(waits, 1)),
    ])
  }
}
await store.stop()
removeFolder(store.folder)
console.log(
  table(['answer', 'coding', 'bytes', 'CPU', 'answers/s', 'p99 beside', 'longest beside'], rows),
)
