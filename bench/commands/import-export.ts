// `bun run import-export`: files of plants into a store and out of it, in turn with the sqlite3 command line and with
// PostgreSQL's COPY.
import { existsSync } from 'node:fs'
import { join } from 'node:path'
import { INSTALLATIONS } from '../../tools/postgres/server.ts'
import { number, readFlags } from '../lib/flags.ts'
import { nthId, type Order } from '../lib/ids.ts'
import { startServer } from '../lib/postgres.ts'
import { removeFolder, temporaryFolder } from '../lib/processes.ts'
import { writeResults } from '../lib/results.ts'
import { setUp } from '../lib/setup.ts'
import { range } from '../lib/statistics.ts'
import { decimals, microseconds, table, thousands } from '../lib/table.ts'
import { plantstoreTasks, postgresTasks, sqliteTasks, type Task } from '../lib/transfers.ts'

const flags = readFlags('Imports and exports beside sqlite3 and PostgreSQL.', {
  plants: { default: '1000000', help: 'plants in a file' },
  rounds: { default: '5', help: 'how often each is measured' },
  order: { default: 'ascending', help: 'order of the ids in the files: ascending or random' },
})
const plants = number(flags.plants)
const order: Order = flags.order === 'random' ? 'random' : 'ascending'

// One name of ten needs quotes in CSV, one more is not ASCII.
const NAMES = Array.from({ length: 8 }, () => 'Monstera deliciosa')
NAMES.push('Monstera "Thai", variegated', 'Köstliches Fensterblatt')
const quote = (text: string) => (text.includes('"') ? `"${text.replaceAll('"', '""')}"` : text)

await setUp({ sqlite3: true })
const folder = temporaryFolder()
const at = (name: string) => join(folder, name)

async function writeFiles(): Promise<void> {
  const [csv, ndjson] = ['csv', 'ndjson'].map((type) => Bun.file(at(`plants.${type}`)).writer())
  csv?.write('id,name,tag\n')
  for (let n = 0; n < plants; n++) {
    const [id, name = ''] = [nthId(order, n), NAMES[n % NAMES.length]]
    csv?.write(`${id},${quote(name)},aroid\n`)
    ndjson?.write(`${JSON.stringify({ id, name, tag: 'aroid' })}\n`)
  }
  await Promise.all([csv?.end(), ndjson?.end()])
}

console.error(`writing ${thousands(plants)} plants`)
await writeFiles()
// psql comes with Debian's.
const installation = INSTALLATIONS.find(({ bin }) => existsSync(join(bin, 'psql')))
if (!installation) console.error('PostgreSQL is missing: its COPY is left out')
const postgres = installation ? await startServer(installation) : undefined
// Imports before exports, as these read what those made.
const all = [
  ...sqliteTasks(folder),
  ...plantstoreTasks(folder, 'csv', 'sqlite3 .mode csv'),
  ...plantstoreTasks(folder, 'ndjson', 'sqlite3 .mode json'),
  ...(postgres ? postgresTasks(folder, postgres) : []),
]
const tasks = (['import', 'export'] as const).flatMap((kind) =>
  all.filter((sample) => sample.kind === kind),
)

type Sample = { task: Task; seconds: number; cpu: number }
const rounds: Sample[][] = []
for (let n = 1; n <= number(flags.rounds); n++) {
  const samples: Sample[] = []
  for (const task of tasks) {
    console.error(`round ${n} of ${flags.rounds}: ${task.kind}, ${task.name}`)
    await task.prepare?.()
    const { seconds, cpu } = await task.run()
    const rows = await task.rows()
    if (rows !== plants) throw new Error(`${task.kind}, ${task.name}: ${rows} plants of ${plants}`)
    samples.push({ task, seconds, cpu })
  }
  rounds.push(samples)
}
await postgres?.stop()
removeFolder(folder)

/** Seconds, or CPU seconds, of sqlite3 divided by those of a task, in each round. */
const ratios = (task: Task, of: (sample: Sample) => number): number[] =>
  rounds.map((samples) => {
    const own = samples.find((sample) => sample.task === task)
    const other = samples.find(
      (sample) => sample.task.kind === task.kind && sample.task.name === task.against,
    )
    return own && other ? of(other) / of(own) : Number.NaN
  })

const rows = tasks.map((task) => {
  const own = rounds.flat().filter((sample) => sample.task === task)
  return {
    task: task.kind,
    program: task.name,
    against: task.against,
    ratio: range(ratios(task, ({ seconds }) => seconds)),
    cpuRatio: range(ratios(task, ({ cpu }) => cpu)),
    seconds: range(own.map(({ seconds }) => seconds)),
    cpuSeconds: range(own.map(({ cpu }) => cpu)),
  }
})

const head = ['', 'program', 'of sqlite3', 'range', 'by CPU', 'plants/s', 'CPU per plant']
const cells = rows.map((row) => [
  row.task,
  row.program,
  decimals(row.ratio[1]),
  `${decimals(row.ratio[0])}-${decimals(row.ratio[2])}`,
  decimals(row.cpuRatio[1]),
  thousands(plants / row.seconds[1]),
  microseconds((row.cpuSeconds[1] / plants) * 1e6),
])
console.log(table(head, cells))
writeResults('import-export', { plants, order, figures: '[least, median, most]', rows })
