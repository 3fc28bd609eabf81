// `bun run start`: time and CPU from exec to the first answer, memory at rest and size of the executable, of
// plantstore, of an empty Bun server that is built as it is, and of that server with more and more of plantstore's
// start.
import { copyFileSync, statSync } from 'node:fs'
import { join } from 'node:path'
import { freePort } from '../../tools/free-port.ts'
import { controlGroup } from '../lib/control-group.ts'
import { cpuTime } from '../lib/cpu.ts'
import { number, readFlags } from '../lib/flags.ts'
import { database, executable, plantstore, project } from '../lib/plantstore.ts'
import { memory } from '../lib/proc.ts'
import { removeFolder, run, start, stop, temporaryFolder } from '../lib/processes.ts'
import { writeResults } from '../lib/results.ts'
import { type Server, startServer, untilFirstAnswer } from '../lib/server.ts'
import { setUp } from '../lib/setup.ts'
import { range } from '../lib/statistics.ts'
import { decimals, megabytes, table } from '../lib/table.ts'

const flags = readFlags('Time to the first answer, memory at rest, size of the executable.', {
  rounds: { default: '20', help: 'how often each is started' },
})

const cache = join(import.meta.dir, '..', '.cache')
const empty = join(cache, 'empty')
const parts = join(cache, 'start-parts')

async function build(entry: string, outfile: string): Promise<void> {
  const argv = [process.execPath, 'build.ts', '--entry', `bench/servers/${entry}`]
  await run({ argv: [...argv, '--outfile', outfile], cwd: project })
}

const serverOf = (name: string, argvOf: (port: number, folder: string) => string[]): Server => ({
  name,
  description: name,
  durable: 'stores nothing',
  command: (port, folder) => ({ argv: argvOf(port, folder), cwd: folder }),
  create: () => ({ path: '/', token: '', body: '' }),
})

const partOf = (part: string, name: string) => ({
  server: serverOf(name, (port, folder) => [parts, part, String(port), database(folder)]),
  file: parts,
})

const starters = [
  { server: { ...plantstore, name: 'plantstore, new store' }, file: executable },
  { server: plantstore, file: executable },
  partOf('service', 'its modules, the store, the service'),
  partOf('store', 'its modules and the store'),
  partOf('modules', 'its modules'),
  { server: serverOf('empty Bun.serve', (port) => [empty, String(port)]), file: empty },
]

type Start = { startMs: number; startCpu: number; resident: number; anonymous: number }

async function once(server: Server, folder: string): Promise<Start> {
  const running = await startServer(server, folder)
  const startCpu = cpuTime(running.pid)
  await Bun.sleep(1000)
  const { resident, anonymous } = memory(running.pid)
  await running.stop()
  return { startMs: running.startMs, startCpu, resident, anonymous }
}

/** Bytes at rest that a container is charged for, executable included; NaN without control groups. */
async function charged(server: Server, file: string): Promise<number> {
  const group = controlGroup()
  if (!group) return Number.NaN
  const folder = temporaryFolder()
  const port = freePort()
  const command = server.command(port, folder)
  const copy = join(folder, 'executable')
  copyFileSync(file, copy)
  // A page is charged to the group that reads it first, so the copy must not be in the page cache.
  await run({ argv: ['sync', copy] })
  await run({ argv: ['dd', `if=${copy}`, 'iflag=nocache', 'count=0', 'status=none'] })
  const argv = [copy, ...command.argv.slice(1)]
  const log = join(folder, 'log')
  const child = start(group.within({ ...command, argv }), log)
  await untilFirstAnswer(port, child, log)
  await Bun.sleep(1000)
  const bytes = group.charged()
  await stop(child)
  group.remove()
  removeFolder(folder)
  return bytes
}

await setUp()
await build('empty.ts', empty)
await build('start-parts.ts', parts)
const starts = new Map<Server, Start[]>(starters.map(({ server }) => [server, []]))
for (let n = 0; n < number(flags.rounds); n++) {
  const folder = temporaryFolder()
  for (const [server, own] of starts) own.push(await once(server, folder))
  removeFolder(folder)
}

const rows = []
for (const { server, file } of starters) {
  const of = (field: keyof Start) => range((starts.get(server) ?? []).map((one) => one[field]))
  rows.push({
    executable: server.name,
    startMs: of('startMs'),
    startCpu: of('startCpu'),
    resident: of('resident'),
    anonymous: of('anonymous'),
    charged: await charged(server, file),
    size: statSync(file).size,
  })
}

const head = ['', 'first answer', 'CPU until then', 'idle RSS', 'of it anonymous']
head.push('idle control group', 'size')
const cells = rows.map((row) => [
  row.executable,
  `${decimals(row.startMs[1], 1)} ms`,
  `${decimals(row.startCpu[1] / 1000, 1)} ms`,
  ...[row.resident[1], row.anonymous[1], row.charged, row.size].map(megabytes),
])
console.log(table(head, cells))
writeResults('start', { figures: '[least, median, most]', rows })
