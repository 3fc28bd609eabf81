// `bun run order`: pages of descending ids, in turn with the same pages of ascending ones, in both engines.
import { installations, isInstalled } from '../../tools/postgres/server.ts'
import { measure, type Sample } from '../lib/alternate.ts'
import { importPlants } from '../lib/fill.ts'
import { number, readFlags } from '../lib/flags.ts'
import { nthId } from '../lib/ids.ts'
import { plantstore, plantstoreBefore } from '../lib/plantstore.ts'
import { startServer as startPostgres } from '../lib/postgres.ts'
import { removeFolder, temporaryFolder } from '../lib/processes.ts'
import { writeResults } from '../lib/results.ts'
import { type Running, startServer } from '../lib/server.ts'
import { setUp } from '../lib/setup.ts'
import { range } from '../lib/statistics.ts'
import { decimals, milliseconds, table, thousands } from '../lib/table.ts'
import { wrk } from '../lib/wrk.ts'

const flags = readFlags('Pages of descending ids, in turn with those of ascending ones.', {
  rounds: { default: '5', help: 'how often each page is measured' },
  seconds: { default: '2', help: 'seconds of load for each page in a round' },
  connections: { default: '16', help: 'connections at once' },
  plants: { default: '10000000', help: 'plants in the store' },
})
const plants = number(flags.plants)
const connections = number(flags.connections)
const slices = number(flags.seconds)

const reads = [
  // What the console asks for at End, and at Home.
  { name: 'the first page of 100', path: '/plants?limit=100' },
  { name: 'page of 1', path: '/plants?limit=1&after=#' },
  { name: 'page of 100', path: '/plants?limit=100&after=#' },
  { name: 'page of 1000', path: '/plants?limit=1000&after=#' },
  { name: 'page of 100 of a tag', path: '/plants?limit=100&tag=aroid&after=#' },
  { name: 'search of 5000', path: '/plants?name=nothing&after=#' },
]

await setUp()
const folder = temporaryFolder()
console.error(`importing ${thousands(plants)} plants`)
await importPlants(folder, 'ascending', 0, plants)
const stores: { readonly engine: string; readonly running: Running }[] = [
  { engine: 'SQLite', running: await startServer(plantstore, folder) },
]
const installation = installations.filter(isInstalled).at(-1)
const postgres = installation && (await startPostgres(installation))
if (postgres) {
  console.error(`the same in ${postgres.version}`)
  await postgres.query('CREATE DATABASE plants')
  const running = await startServer(plantstoreBefore(postgres.url('plants'), 'PostgreSQL'))
  const ids = `generate_series(${nthId('ascending', 0)}, ${nthId('ascending', plants - 1)})`
  await postgres.query(
    `INSERT INTO plants SELECT id, 'Monstera deliciosa', 'aroid' FROM ${ids} AS id`,
    'plants',
  )
  await postgres.query(`UPDATE plant_count SET plants = ${plants}`, 'plants')
  await postgres.query('VACUUM ANALYZE plants', 'plants')
  stores.push({ engine: postgres.version, running })
} else console.error('without PostgreSQL: bun tools/postgres/install.ts')

const reader =
  ({ create, url, pid }: Running, path: string) =>
  (count: number, seconds: number) =>
    wrk('read', [path, create.token, String(Math.max(1, plants - 1000)), 'ascending'], {
      url,
      pid,
      connections: count,
      seconds,
    })

const samples: (Sample & { readonly engine: string })[] = []
for (let n = 1; n <= number(flags.rounds); n++) {
  console.error(`round ${n} of ${flags.rounds}`)
  for (const { engine, running } of stores) {
    for (const { name, path } of reads) {
      const [ascending, descending] = [path, `${path}&order=desc`].map((it) => reader(running, it))
      if (!ascending || !descending) continue
      samples.push({
        engine,
        ...(await measure(name, descending, ascending, { connections, slices })),
      })
    }
  }
}
for (const { running } of stores) {
  await running.stop()
  removeFolder(running.folder)
}
await postgres?.stop()

const rows = stores.flatMap(({ engine }) =>
  reads.map(({ name }) => {
    const own = samples.filter((sample) => sample.engine === engine && sample.name === name)
    const of = (value: (sample: Sample) => number) => range(own.map(value))
    return {
      engine,
      read: name,
      ratio: of(({ ratio }) => ratio),
      descendingPerSecond: of(({ perSecond }) => perSecond),
      ascendingPerSecond: of(({ reference }) => reference.perSecond),
      descendingP50: of(({ p50 }) => p50),
      ascendingP50: of(({ reference }) => reference.p50),
    }
  }),
)
const head = ['engine', 'read', 'desc / asc', 'range', 'desc/s', 'asc/s', 'p50 desc', 'p50 asc']
const cells = rows.map((row) => [
  row.engine,
  row.read,
  decimals(row.ratio[1]),
  `${decimals(row.ratio[0])}-${decimals(row.ratio[2])}`,
  thousands(row.descendingPerSecond[1]),
  thousands(row.ascendingPerSecond[1]),
  milliseconds(row.descendingP50[1]),
  milliseconds(row.ascendingP50[1]),
])
console.log(table(head, cells))
writeResults('order', { plants, connections, figures: '[least, median, most]', rows })
