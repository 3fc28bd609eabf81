// `bun run reads`: one plant, and pages of 100 and 1000, in turn with a bare server that answers a constant.
import { number, numbers, readFlags } from '../lib/flags.ts'
import { bareReads } from '../lib/peers.ts'
import { plantstore } from '../lib/plantstore.ts'
import { removeFolder } from '../lib/processes.ts'
import { writeResults } from '../lib/results.ts'
import { loadInTurn, printRows, rowsOf } from '../lib/rounds.ts'
import { seed, startServer } from '../lib/server.ts'
import { setUp } from '../lib/setup.ts'
import { readOf } from '../lib/wrk.ts'

const flags = readFlags('Reads of one plant and of pages.', {
  rounds: { default: '5', help: 'how often each read is measured' },
  seconds: { default: '2', help: 'seconds of load at a time' },
  connections: { default: '1,64', help: 'connections at once' },
  plants: { default: '20000', help: 'plants in the store' },
})
const plants = number(flags.plants)
const reads = [
  { name: 'one plant', path: '/plants/#', constant: '/1/#' },
  { name: 'page of 100', path: '/plants?limit=100&after=#', constant: '/100/#' },
  { name: 'page of 1000', path: '/plants?limit=1000&after=#', constant: '/1000/#' },
]

await setUp()
const store = await startServer(plantstore)
await seed(store, plants)
const constant = await startServer(bareReads)
// The last pages are full, too.
const count = Math.max(1, plants - 1000)
const plan = {
  rounds: number(flags.rounds),
  seconds: number(flags.seconds),
  connections: numbers(flags.connections),
}
const rows = []
for (const { name, path, constant: constantPath } of reads) {
  const contenders = [
    { name: 'constant', load: readOf(constant, constantPath, count) },
    { name, load: readOf(store, path, count) },
  ]
  for (const { load } of contenders) await load(64, 1)
  rows.push(...rowsOf(await loadInTurn(contenders, plan), 'constant'))
}
await Promise.all([store.stop(), constant.stop()])
removeFolder(store.folder)

const own = rows.filter(({ server }) => server !== 'constant')
printRows(own, 'constant', 'reads')
writeResults('reads', { rows: own })
