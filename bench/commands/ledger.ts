// `bun run ledger`: the CPU of a create by its parts. Servers with more and more of plantstore are loaded in turn; a
// part costs what its server takes more than the one before. The main thread serves; the others commit, compile and
// collect.
import { threadTimes } from '../lib/cpu.ts'
import { number, numbers, readFlags } from '../lib/flags.ts'
import { removeFolder } from '../lib/processes.ts'
import { type Running, startServer } from '../lib/server.ts'
import { ceiling, ledgerParts } from '../lib/servers.ts'
import { setUp } from '../lib/setup.ts'
import { withSlowSyncs } from '../lib/slow-disk.ts'
import { median } from '../lib/statistics.ts'
import { decimals, table, thousands } from '../lib/table.ts'
import { allSucceeded, createLoader } from '../lib/wrk.ts'

const flags = readFlags('CPU per create, by the parts of plantstore.', {
  rounds: { default: '5', help: 'how often each server is started and measured' },
  seconds: { default: '1', help: 'seconds of load at each number of connections' },
  connections: { default: '16,64,256', help: 'connections at once' },
  'fsync-ms': { default: '0.3', help: 'milliseconds added to each fsync' },
})
const seconds = number(flags.seconds)
const connections = numbers(flags.connections)

/** Microseconds per create. */
type Cost = { main: number; others: number; perSecond: number }

await setUp({ slowDisk: true })
const parts = [ceiling, ...ledgerParts]
const costs = new Map<string, Cost[]>()
const key = (part: string, count: number) => `${part} ${count}`

async function measure(part: string, running: Running): Promise<void> {
  const loader = createLoader(running)
  // Until the hot path is compiled.
  await loader.create(64, 2)
  for (const count of connections) {
    const before = threadTimes(running.pid)
    const load = await loader.create(count, seconds)
    const after = threadTimes(running.pid)
    allSucceeded(load, part)
    const per = (name: 'main' | 'others') => (after[name] - before[name]) / load.requests
    const cost = { main: per('main'), others: per('others'), perSecond: load.perSecond }
    costs.set(key(part, count), [...(costs.get(key(part, count)) ?? []), cost])
  }
}

for (let n = 1; n <= number(flags.rounds); n++) {
  console.error(`round ${n} of ${flags.rounds}`)
  for (const part of parts) {
    const running = await startServer(part, undefined, withSlowSyncs(number(flags['fsync-ms'])))
    try {
      await measure(part.name, running)
    } finally {
      await running.stop()
      removeFolder(running.folder)
    }
  }
}

for (const count of connections) {
  const rows = parts.map(({ name, description }, index) => {
    const of = (part: string, which: keyof Cost) =>
      median((costs.get(key(part, count)) ?? []).map((cost) => cost[which]))
    const main = of(name, 'main')
    const before = parts[index - 1]?.name
    return [
      description,
      decimals(main, 1),
      before ? decimals(main - of(before, 'main'), 1) : '',
      decimals(of(name, 'others'), 1),
      thousands(of(name, 'perSecond')),
    ]
  })
  console.log(`\n${count} connections, us of CPU per create\n`)
  console.log(table(['', 'main thread', 'of which new', 'other threads', 'creates/s'], rows))
}
