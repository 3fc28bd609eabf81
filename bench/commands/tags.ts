// `bun run tags`: pages of tags, and creates beside them, in stores of many plants: with many tags, and with one.

import { Database } from 'bun:sqlite'
import { number, readFlags } from '../lib/flags.ts'
import { database, plantstore, plantstoreBefore, token } from '../lib/plantstore.ts'
import { findPostgres, startServer as startPostgres } from '../lib/postgres.ts'
import { removeFolder, temporaryFolder } from '../lib/processes.ts'
import { type Running, type Server, startServer } from '../lib/server.ts'
import { setUp } from '../lib/setup.ts'
import { table } from '../lib/table.ts'
import { wrk } from '../lib/wrk.ts'

const flags = readFlags('Pages of tags, and creates beside them.', {
  plants: { default: '1000000', help: 'plants in each store' },
  tags: { default: '50000', help: 'tags of the first store; the second has one' },
  limit: { default: '1000', help: 'tags on a page' },
  seconds: { default: '5', help: 'seconds of creates, alone and beside pages' },
  postgres: { default: '', help: 'folder with the programs of PostgreSQL; default: the newest' },
})
const plants = number(flags.plants)
const limit = number(flags.limit)
const seconds = number(flags.seconds)

const ROW = (tags: number) => `i, 'plant ' || i, 'tag ' || ((i % 100000 * 7919) % ${tags})`

/** Fills the database of a stopped daemon. */
type Fill = (tags: number) => Promise<void>

const fillFile =
  (folder: string): Fill =>
  async (tags) => {
    const db = new Database(database(folder))
    db.run(
      `INSERT INTO plants SELECT ${ROW(tags)} FROM
       (WITH RECURSIVE ids(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM ids WHERE i < ${plants}) SELECT i FROM ids)`,
    )
    db.run(`UPDATE change_log SET plants = ${plants}`)
    db.close()
  }

type TagPage = {
  readonly tags: readonly { readonly plants: number }[]
  readonly next: string | null
}

async function readPage(url: string, after: string | null): Promise<TagPage> {
  const place = after === null ? '' : `&after=${encodeURIComponent(after)}`
  const answer = await fetch(`${url}/tags?limit=${limit}${place}`, {
    headers: { authorization: `Bearer ${token}` },
  })
  if (!answer.ok) throw new Error(await answer.text())
  return (await answer.json()) as TagPage
}

/** Milliseconds of each page, from the first to the last. */
async function readPages(url: string): Promise<number[]> {
  const times: number[] = []
  let found = 0
  let after: string | null = null
  do {
    const started = performance.now()
    const page = await readPage(url, after)
    times.push(performance.now() - started)
    for (const tag of page.tags) found += tag.plants
    after = page.next
  } while (after !== null)
  if (found < plants) throw new Error(`the pages count ${found} plants`)
  return times.sort((a, b) => a - b)
}

let created = 1

async function create({ url, pid, create: { path, token, body } }: Running): Promise<number> {
  const args = [path, token, body, String(created), 'ascending']
  created += 100_000_000
  const { perSecond } = await wrk('create', args, { url, pid, connections: 64, seconds })
  return perSecond
}

/** Creates per second while another client reads pages of tags without a pause. */
async function createBeside(running: Running): Promise<number> {
  let isDone = false
  async function readOn(): Promise<void> {
    while (!isDone) await readPages(running.url)
  }
  const reading = readOn()
  const perSecond = await create(running)
  isDone = true
  await reading
  return perSecond
}

async function measure(server: Server, folder: string, fill: Fill, tags: number) {
  await (await startServer(server, folder)).stop()
  await fill(tags)
  const running = await startServer(server, folder)
  await readPages(running.url)
  const times = await readPages(running.url)
  const alone = await create(running)
  const beside = await createBeside(running)
  await running.stop()
  return [
    server.name,
    String(tags),
    String(times.length),
    (times[Math.floor(times.length / 2)] ?? 0).toFixed(1),
    (times.at(-1) ?? 0).toFixed(1),
    alone.toFixed(0),
    (beside / alone).toFixed(2),
  ]
}

await setUp()
const rows: string[][] = []
for (const tags of [number(flags.tags), 1]) {
  const folder = temporaryFolder()
  rows.push(await measure(plantstore, folder, fillFile(folder), tags))
  removeFolder(folder)
}
const postgres = await startPostgres(await findPostgres(flags.postgres))
for (const tags of [number(flags.tags), 1]) {
  const name = `tags_${tags}`
  await postgres.query(`CREATE DATABASE ${name}`)
  const fill: Fill = async () => {
    await postgres.query(
      `INSERT INTO plants SELECT ${ROW(tags)} FROM generate_series(1, ${plants}) i`,
      name,
    )
    await postgres.query(`UPDATE plant_count SET plants = ${plants}`, name)
    await postgres.query('VACUUM ANALYZE plants', name)
  }
  const folder = temporaryFolder()
  rows.push(
    await measure(plantstoreBefore(postgres.url(name), postgres.version), folder, fill, tags),
  )
  removeFolder(folder)
}
await postgres.stop()

console.log(
  table(
    ['store', 'tags', 'pages', 'ms of a page', 'the slowest', 'creates/s alone', 'beside pages'],
    rows,
  ),
)
