// `bun run locked-plant`: creates with PostgreSQL while clients write a plant that another session keeps locked, in
// turn with creates alone.
import { SQL } from 'bun'
import { cpuOfTree } from '../lib/cpu.ts'
import { number, readFlags } from '../lib/flags.ts'
import { plantstoreBefore, token } from '../lib/plantstore.ts'
import { findPostgres, startServer as startPostgres } from '../lib/postgres.ts'
import { removeFolder } from '../lib/processes.ts'
import { startServer } from '../lib/server.ts'
import { setUp } from '../lib/setup.ts'
import { range } from '../lib/statistics.ts'
import { decimals, microseconds, milliseconds, table, thousands } from '../lib/table.ts'
import { allSucceeded, createLoader, type Load } from '../lib/wrk.ts'

const flags = readFlags('Creates beside a plant that another session keeps locked.', {
  rounds: { default: '7', help: 'how often it is loaded with and without the lock' },
  seconds: { default: '4', help: 'seconds of load at a time; a write waits 3 for a lock' },
  connections: { default: '64', help: 'connections that create other plants' },
  clients: { default: '2', help: 'clients that write the locked plant, again and again' },
  postgres: { default: '', help: 'folder of the programs of PostgreSQL; newest that is found' },
})
const connections = number(flags.connections)
const seconds = number(flags.seconds)
const LOCKED = 1

await setUp()
const postgres = await startPostgres(await findPostgres(flags.postgres))
await postgres.query('CREATE DATABASE plants')
const url = postgres.url('plants')
const server = await startServer(plantstoreBefore(url, 'plantstore'))
const loader = createLoader(server)
const other = new SQL({ adapter: 'postgres', url, tls: 'disable', max: 1 })

/** Replaces the plant that may be locked; resolves to the status. */
async function replace(): Promise<number> {
  const answer = await fetch(`${server.url}/plants/${LOCKED}`, {
    method: 'PUT',
    headers: { authorization: `Bearer ${token}`, 'content-type': 'application/json' },
    body: '{"name":"Monstera deliciosa"}',
  })
  await answer.arrayBuffer()
  return answer.status
}

/** A load, and microseconds of CPU of PostgreSQL per create. */
type Slice = Load & { readonly postgres: number }

async function createAlone(): Promise<Slice> {
  const before = cpuOfTree(postgres.pid)
  const creates = await loader.create(connections, seconds)
  allSucceeded(creates)
  return { ...creates, postgres: (cpuOfTree(postgres.pid) - before) / creates.requests }
}

/** Creates plants while clients write the locked plant: each of these writes must be refused as busy. */
async function createBeside(): Promise<Slice> {
  await other.unsafe(`BEGIN; SELECT FROM plants WHERE id = ${LOCKED} FOR UPDATE`).simple()
  let isOver = false
  const client = async () => {
    while (!isOver) {
      const status = await replace()
      if (status !== 503) throw new Error(`a write of the locked plant was answered with ${status}`)
    }
  }
  const clients = Array.from({ length: number(flags.clients) }, client)
  const creates = await createAlone()
  isOver = true
  await Promise.all(clients)
  await other.unsafe('ROLLBACK').simple()
  return creates
}

await other`INSERT INTO plants (id, name) VALUES (${LOCKED}, 'locked')`
await createAlone()
const alone: Slice[] = []
const beside: Slice[] = []
for (let round = 1; round <= number(flags.rounds); round++) {
  console.error(`round ${round} of ${flags.rounds}`)
  // Each comes first as often as the other.
  if (round % 2 === 1) alone.push(await createAlone())
  beside.push(await createBeside())
  if (round % 2 === 0) alone.push(await createAlone())
}
await other.close({ timeout: 0 })
await server.stop()
const [stored] = await postgres.query('SELECT count(*) AS rows FROM plants', 'plants')
loader.check(Number(stored?.rows) - 1)
await postgres.stop()
removeFolder(server.folder)

const ratios = beside.map((it, round) => it.perSecond / (alone[round]?.perSecond ?? Number.NaN))
const [least, middle, most] = range(ratios)
const row = (what: string, slices: readonly Slice[], ratio: string) => {
  const middleOf = (of: (slice: Slice) => number) => range(slices.map(of))[1]
  return [
    what,
    thousands(middleOf((it) => it.perSecond)),
    ratio,
    microseconds(middleOf((it) => it.cpu)),
    microseconds(middleOf((it) => it.postgres)),
    milliseconds(middleOf((it) => it.p99)),
    milliseconds(Math.max(...slices.map((it) => it.max))),
  ]
}
const head = [`${connections} connections, ${postgres.version}`, 'creates/s', 'ratio']
head.push('CPU per create', 'of PostgreSQL', 'p99', 'longest')
console.log(
  table(head, [
    row('creates alone', alone, '-'),
    row(
      'beside a locked plant',
      beside,
      `${decimals(middle)} (${decimals(least)}-${decimals(most)})`,
    ),
  ]),
)
