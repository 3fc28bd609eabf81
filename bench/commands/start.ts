// `bun run start`: time from exec to the first answer, memory at rest and size of the executable, and the same of an
// empty Bun server with the same build flags. plantstore starts without a store, and again with the one it made.
import { copyFileSync, readFileSync, statSync } from 'node:fs'
import { join } from 'node:path'
import { controlGroup } from '../lib/control-group.ts'
import { number, readFlags } from '../lib/flags.ts'
import { executable, plantstore, project } from '../lib/plantstore.ts'
import { memory } from '../lib/proc.ts'
import { removeFolder, run, start, stop, temporaryFolder } from '../lib/processes.ts'
import { writeResults } from '../lib/results.ts'
import { freePort, type Server, startServer, untilFirstAnswer } from '../lib/server.ts'
import { setUp } from '../lib/setup.ts'
import { range } from '../lib/statistics.ts'
import { decimals, megabytes, table } from '../lib/table.ts'
import { createLoader } from '../lib/wrk.ts'

const flags = readFlags('Time to the first answer, memory at rest, size of the executable.', {
  rounds: { default: '20', help: 'how often each is started' },
  extra: { default: '', help: 'more flags to build the empty server with, separated by spaces' },
})

const empty = join(import.meta.dir, '..', '.cache', 'empty')

/** The flags of the project's build, without those that name files. */
function buildFlags(): string[] {
  const source = readFileSync(join(project, 'build.ts'), 'utf8')
  const all = [...source.matchAll(/'(--[\w=-]+)'/g)].map((match) => match[1] ?? '')
  return all.filter((flag) => !/^--(root|external|outfile|target)/.test(flag))
}

async function buildEmpty(): Promise<void> {
  const entry = join(import.meta.dir, '..', 'servers', 'empty.ts')
  const extra = flags.extra ? flags.extra.split(' ') : []
  const argv = [process.execPath, 'build', ...buildFlags(), ...extra, entry, '--outfile', empty]
  await run({ argv, env: { NODE_ENV: 'production' } })
}

const emptyServer: Server = {
  name: 'empty Bun.serve',
  description: 'answers a constant',
  durable: 'stores nothing',
  command: (port, folder) => ({ argv: [empty], env: { EMPTY_PORT: String(port) }, cwd: folder }),
  create: () => ({ path: '/', token: '', body: '' }),
}

type Start = { name: string; startMs: number; resident: number; anonymous: number; loaded: number }

async function once(server: Server, name: string, folder: string): Promise<Start> {
  const running = await startServer(server, folder)
  await Bun.sleep(1000)
  const { resident, anonymous } = memory(running.pid)
  await createLoader(running).create(64, 1)
  const loaded = memory(running.pid).resident
  await running.stop()
  return { name, startMs: running.startMs, resident, anonymous, loaded }
}

/** Bytes at rest that a container is charged for, executable included; NaN without control groups. */
async function charged(server: Server, file: string): Promise<number> {
  const group = controlGroup()
  if (!group) return Number.NaN
  const folder = temporaryFolder()
  const port = await freePort()
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
await buildEmpty()
const starters = [
  { name: 'plantstore, new store', server: plantstore, file: executable },
  { name: 'plantstore', server: plantstore, file: executable },
  { name: emptyServer.name, server: emptyServer, file: empty },
]
const starts: Start[] = []
for (let n = 0; n < number(flags.rounds); n++) {
  const folder = temporaryFolder()
  for (const { name, server } of starters) starts.push(await once(server, name, folder))
  removeFolder(folder)
}

const rows = []
for (const { name, server, file } of starters) {
  const own = starts.filter((one) => one.name === name)
  const of = (field: Exclude<keyof Start, 'name'>) => range(own.map((one) => one[field]))
  rows.push({
    executable: name,
    startMs: of('startMs'),
    resident: of('resident'),
    anonymous: of('anonymous'),
    loaded: of('loaded'),
    charged: await charged(server, file),
    size: statSync(file).size,
  })
}

const head = ['executable', 'first answer', 'idle RSS', 'of it anonymous', 'idle control group']
head.push('loaded RSS', 'size')
const cells = rows.map((row) => [
  row.executable,
  `${decimals(row.startMs[1], 1)} ms`,
  ...[row.resident[1], row.anonymous[1], row.charged, row.loaded[1], row.size].map(megabytes),
])
console.log(table(head, cells))
writeResults('start', { flags: buildFlags(), figures: '[least, median, most]', rows })
