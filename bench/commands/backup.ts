// `bun run backup`: creates while a backup, an export or an import runs on the same file.

import { importPlants } from '../lib/fill.ts'
import { number, readFlags } from '../lib/flags.ts'
import { database, executable, plantstore } from '../lib/plantstore.ts'
import { removeFolder, run, temporaryFolder } from '../lib/processes.ts'
import { writeResults } from '../lib/results.ts'
import { startServer } from '../lib/server.ts'
import { setUp } from '../lib/setup.ts'
import { decimals, milliseconds, table, thousands } from '../lib/table.ts'
import { createLoader } from '../lib/wrk.ts'

const flags = readFlags('Creates while a command runs on the same file.', {
  plants: { default: '1000000', help: 'plants in the store' },
  connections: { default: '16', help: 'connections at once' },
  seconds: { default: '5', help: 'seconds of load for each command' },
})
const plants = number(flags.plants)
const [connections, seconds] = [number(flags.connections), number(flags.seconds)]

await setUp()
const folder = temporaryFolder()
await importPlants(folder, 'ascending', 0, plants)
const server = await startServer(plantstore, folder)
const loader = createLoader(server, 'ascending', 2 * plants)
const file = database(folder)

// A command ends sooner than the measurement, so it is repeated.
async function beside(command: ((n: number) => Promise<unknown>) | null) {
  let isOver = false
  const working = (async () => {
    for (let n = 0; command && !isOver; n++) await command(n)
  })()
  const load = await loader.create(connections, seconds)
  isOver = true
  await working
  return load
}

const own = ['--database', file]
const commands: [string, ((n: number) => Promise<unknown>) | null][] = [
  ['nothing', null],
  ['backup', (n) => run({ argv: [executable, 'backup', `${folder}/backup-${n}`, ...own] })],
  ['export', (n) => run({ argv: [executable, 'export', `${folder}/out-${n}.ndjson`, ...own] })],
  ['import', (n) => importPlants(folder, 'ascending', plants * (9 + n), plants * (9 + n) + 50_000)],
]
await loader.create(connections, 2)
const rows: { beside: string; perSecond: number; p50: number; p99: number; max: number }[] = []
for (const [name, command] of commands) {
  const load = await beside(command)
  const { perSecond, p50, p99, max } = load
  rows.push({ beside: name, perSecond, p50, p99, max })
}
await server.stop()
removeFolder(server.folder)

const head = ['command', 'creates/s', 'p50', 'p99', 'x usual p99', 'longest']
const cells = rows.map(({ beside, perSecond, p50, p99, max }) => [
  beside,
  thousands(perSecond),
  milliseconds(p50),
  milliseconds(p99),
  decimals(p99 / (rows[0]?.p99 ?? Number.NaN)),
  milliseconds(max),
])
console.log(table(head, cells))
writeResults('backup', { plants, rows })
