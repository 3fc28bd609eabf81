// `bun run bench`: creates per second of plantstore and its peers, as a part of a bare `Bun.serve` that stores nothing.
import { existsSync } from 'node:fs'
import { startContender } from '../lib/contender.ts'
import { number, numbers, readFlags } from '../lib/flags.ts'
import { bare, peers } from '../lib/peers.ts'
import { plantstore } from '../lib/plantstore.ts'
import { writeResults } from '../lib/results.ts'
import { loadInTurn, printRows, rowsOf } from '../lib/rounds.ts'
import type { Server } from '../lib/server.ts'
import { setUp } from '../lib/setup.ts'

const flags = readFlags('Creates per second of plantstore and its peers, in turn.', {
  rounds: { default: '7', help: 'how often each server is loaded' },
  seconds: { default: '1', help: 'seconds of load at each number of connections' },
  connections: { default: '1,64,256', help: 'connections at once' },
})

await setUp()
const isBuilt = ({ needs }: Server) => needs === undefined || existsSync(needs)
for (const { name } of peers.filter((peer) => !isBuilt(peer))) {
  console.error(`without ${name}: it is not built; run: bun run peers`)
}
const contenders = []
for (const server of [bare, plantstore, ...peers.filter(isBuilt)]) {
  contenders.push(await startContender(server, {}))
}
const samples = await loadInTurn(contenders, {
  rounds: number(flags.rounds),
  seconds: number(flags.seconds),
  connections: numbers(flags.connections),
})
for (const { end } of contenders) await end()

const rows = rowsOf(samples, bare.name)
printRows(rows, bare.name, 'creates')
// Only a full run is kept.
if (peers.every(isBuilt)) writeResults('creates', { rows })
