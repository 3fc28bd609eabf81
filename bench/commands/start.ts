// `bun run start`: from exec to the first answer, CPU until then and memory at rest, of plantstore and of an empty
// `Bun.serve` that is built as it is.
import { statSync } from 'node:fs'
import { join } from 'node:path'
import { number, readFlags } from '../lib/flags.ts'
import { executable, plantstore, project } from '../lib/plantstore.ts'
import { cpuTime, residentBytes } from '../lib/process.ts'
import { removeFolder, run, temporaryFolder } from '../lib/processes.ts'
import { writeResults } from '../lib/results.ts'
import { type Server, startServer } from '../lib/server.ts'
import { setUp } from '../lib/setup.ts'
import { range } from '../lib/statistics.ts'
import { decimals, megabytes, table } from '../lib/table.ts'

const flags = readFlags('Time to the first answer, memory at rest, size of the executable.', {
  rounds: { default: '20', help: 'how often each is started' },
})

await setUp()
const empty = join(temporaryFolder(), 'empty')
const entry = ['--entry', 'bench/servers/empty.ts', '--outfile', empty]
await run({ argv: [process.execPath, 'build.ts', ...entry], cwd: project })
const emptyServer: Server = {
  name: 'empty Bun.serve',
  command: (port, folder) => ({ argv: [empty, String(port)], cwd: folder }),
  create: () => ({ path: '/', token: '', body: '' }),
}
// The first start of a round makes the store, the second finds it.
const starters = [
  { server: { ...plantstore, name: 'plantstore, new store' }, file: executable },
  { server: plantstore, file: executable },
  { server: emptyServer, file: empty },
]

async function once(server: Server, folder: string) {
  const running = await startServer(server, folder)
  const startCpu = cpuTime(running.pid)
  await Bun.sleep(500)
  const resident = residentBytes(running.pid)
  await running.stop()
  return { startMs: running.startMs, startCpu, resident }
}

type Start = Awaited<ReturnType<typeof once>>
const starts = new Map<Server, Start[]>(starters.map(({ server }) => [server, []]))
for (let n = 0; n < number(flags.rounds); n++) {
  const folder = temporaryFolder()
  for (const [server, own] of starts) own.push(await once(server, folder))
  removeFolder(folder)
}

const rows = starters.map(({ server, file }) => {
  const of = (field: keyof Start) => range((starts.get(server) ?? []).map((one) => one[field]))
  return {
    executable: server.name,
    startMs: of('startMs'),
    startCpu: of('startCpu'),
    resident: of('resident'),
    size: statSync(file).size,
  }
})
const cells = rows.map(({ executable, startMs, startCpu, resident, size }) => [
  executable,
  `${decimals(startMs[1], 1)} ms`,
  `${decimals(startCpu[1] / 1000, 1)} ms`,
  ...[resident[1], size].map(megabytes),
])
console.log(table(['', 'first answer', 'CPU until then', 'memory', 'size'], cells))
writeResults('start', { rows })
