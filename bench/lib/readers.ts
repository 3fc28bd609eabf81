// Read-only plantstores, each before a standby of its own, beside a full load of creates on the primary.
import { existsSync } from 'node:fs'
import { join } from 'node:path'
import {
  INSTALLATIONS,
  type Installation,
  isInstalled,
  type PostgresServer,
  startPostgres,
} from '../../tools/postgres/server.ts'
import { plantstoreBefore, token } from './plantstore.ts'
import { type Running, startServer } from './server.ts'
import { median, quantile, sum } from './statistics.ts'
import { decimals, microseconds, milliseconds, table, thousands } from './table.ts'
import { allSucceeded, createLoader, wrk } from './wrk.ts'

const DATABASE = 'plants'
const CONNECTIONS = 16
const PROBE_EVERY_MS = 50
/** The first id of the probes: the load does not reach it. */
const PROBES = 900_000_000

type Sample = {
  readonly reads: number
  readonly cpu: number
  readonly creates: number
  /** Milliseconds from the answer to a create until its plant is read. */
  readonly staleness: readonly number[]
}

/** The newest installation that can copy a server. */
function installation(): Installation {
  const found = INSTALLATIONS.filter(
    (it) => isInstalled(it) && existsSync(join(it.bin, 'pg_basebackup')),
  ).at(-1)
  if (found) return found
  console.error('pg_basebackup is missing; install it (Debian: apt-get install postgresql)')
  process.exit(1)
}

const headers = { authorization: `Bearer ${token}`, 'content-type': 'application/json' }

let probes = 0

async function createProbe({ url }: Running): Promise<number> {
  const id = PROBES + probes++
  const body = JSON.stringify({ id, name: 'probe' })
  const answer = await fetch(`${url}/plants`, { method: 'POST', headers, body })
  if (!answer.ok) throw new Error(`a probe is answered with ${await answer.text()}`)
  return id
}

/** Creates plants on the primary, and reads each from every reader until all have it. */
async function probe(primary: Running, readers: readonly Running[], end: number) {
  const staleness: number[] = []
  while (performance.now() < end) {
    const id = await createProbe(primary)
    const at = performance.now()
    const waits = readers.map(async ({ url }) => {
      while ((await fetch(`${url}/plants/${id}`, { headers })).status !== 200) await Bun.sleep(1)
      staleness.push(performance.now() - at)
    })
    await Promise.all(waits)
    await Bun.sleep(PROBE_EVERY_MS)
  }
  return staleness
}

/** Loads the primary with creates and each reader with reads of one plant, at the same time. */
async function measure(
  primary: Running,
  loader: ReturnType<typeof createLoader>,
  readers: readonly Running[],
  seconds: number,
): Promise<Sample> {
  const staleness = probe(primary, readers, performance.now() + seconds * 1000)
  const [created, ...loads] = await Promise.all([
    loader.create(CONNECTIONS, seconds),
    ...readers.map(({ url, pid }) =>
      wrk('read', [`/plants/${PROBES}`, token, '1', 'ascending'], {
        url,
        pid,
        connections: CONNECTIONS,
        seconds,
      }),
    ),
  ])
  for (const load of [created, ...loads]) allSucceeded(load)
  const requests = sum(loads.map((load) => load.requests))
  return {
    reads: sum(loads.map((load) => load.perSecond)),
    cpu: sum(loads.map((load) => load.cpu * load.requests)) / requests,
    creates: created.perSecond,
    staleness: await staleness,
  }
}

/** Measures these numbers of readers in turn; 0: reads of the primary's plantstore itself. Prints a table. */
export async function measureReaders(
  counts: readonly number[],
  rounds: number,
  seconds: number,
): Promise<void> {
  const program = installation()
  await using server = await startPostgres(program)
  await server.createDatabase(DATABASE)
  const primary = await startServer(plantstoreBefore(server.url(DATABASE), 'primary'))
  const loader = createLoader(primary)
  await createProbe(primary)
  await loader.create(CONNECTIONS, 1)
  const standbys: PostgresServer[] = []
  const readers: Running[] = []
  for (let place = 0; place < Math.max(...counts); place++) {
    const standby = await startPostgres(program, { standbyOf: server })
    standbys.push(standby)
    const options = ['--read-only']
    const before = plantstoreBefore(standby.url(DATABASE), `reader ${place + 1}`, { options })
    readers.push(await startServer(before))
  }
  const samples: { readonly count: number; readonly sample: Sample }[] = []
  for (let round = 1; round <= rounds; round++) {
    console.error(`round ${round} of ${rounds}`)
    for (const count of counts) {
      const used = count === 0 ? [primary] : readers.slice(0, count)
      samples.push({ count, sample: await measure(primary, loader, used, seconds) })
    }
  }
  for (const running of [...readers, primary]) await running.stop()
  for (const standby of standbys) await standby[Symbol.asyncDispose]()

  const of = (count: number) =>
    samples.filter((it) => it.count === count).map(({ sample }) => sample)
  const least = Math.min(...counts)
  const base = median(of(least).map(({ reads }) => reads))
  const head = ['readers', 'reads/s', 'ratio', 'CPU per read', 'creates/s', 'stale p50', 'p99']
  const cells = counts.map((count) => {
    const all = of(count)
    const reads = median(all.map((it) => it.reads))
    const staleness = all.flatMap((it) => it.staleness)
    return [
      count === 0 ? 'the primary' : String(count),
      thousands(reads),
      decimals(reads / base),
      // The primary's own CPU has its creates, too.
      count === 0 ? '' : microseconds(median(all.map((it) => it.cpu))),
      thousands(median(all.map((it) => it.creates))),
      milliseconds(quantile([...staleness], 0.5) * 1000),
      milliseconds(quantile([...staleness], 0.99) * 1000),
    ]
  })
  console.log(
    `\n${program.name}, ${CONNECTIONS} connections for creates, as many for each reader\n`,
  )
  console.log(table(head, cells))
}
