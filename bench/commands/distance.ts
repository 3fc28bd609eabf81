// `bun run distance`: plantstore before PostgreSQL servers that are more and more milliseconds away.
import { buildDelayProxy, startDelayProxy } from '../lib/delay-proxy.ts'
import { number, numbers, readFlags } from '../lib/flags.ts'
import { plantstoreBefore, token } from '../lib/plantstore.ts'
import { findPostgres, startServer as startPostgres } from '../lib/postgres.ts'
import { type Running, startServer } from '../lib/server.ts'
import { setUp } from '../lib/setup.ts'
import { median } from '../lib/statistics.ts'
import { decimals, table, thousands } from '../lib/table.ts'
import { createLoader } from '../lib/wrk.ts'

const flags = readFlags('Starts, pages and creates by the distance of the PostgreSQL server.', {
  'round-trip-ms': { default: '5,50,200,500', help: 'milliseconds of round trip' },
  samples: { default: '10', help: 'requests, one after another' },
  seconds: { default: '4', help: 'seconds of load with 64 connections' },
})
const samples = number(flags.samples)
const seconds = number(flags.seconds)
const headers = { authorization: `Bearer ${token}`, 'content-type': 'application/json' }

/** The median of the milliseconds that a request takes. */
async function timeOf(request: (index: number) => Promise<Response>): Promise<number> {
  const times: number[] = []
  for (let index = 0; index < samples; index++) {
    const startedAt = performance.now()
    const answer = await request(index)
    await answer.text()
    times.push(performance.now() - startedAt)
    if (!answer.ok) throw new Error(`answered ${answer.status}`)
  }
  return median(times)
}

async function measure(running: Running) {
  const { url, startMs } = running
  const { perSecond } = await createLoader(running).create(64, seconds)
  const page = await timeOf(() => fetch(`${url}/plants?limit=100`, { headers }))
  const create = await timeOf((index) => {
    const body = JSON.stringify({ id: -1 - index, name: 'Monstera deliciosa' })
    return fetch(`${url}/plants`, { method: 'POST', headers, body })
  })
  return { startMs, page, create, perSecond }
}

await setUp({ slowDisk: false })
await buildDelayProxy()
const postgres = await startPostgres(await findPostgres(''), (command) => command)
const rows: string[][] = []
for (const roundTrip of numbers(flags['round-trip-ms'])) {
  await postgres.query(`CREATE DATABASE far_${roundTrip}`)
  const proxy = await startDelayProxy(postgres.port, roundTrip)
  const url = `${postgres.url(`far_${roundTrip}`, proxy.port)}?connect_timeout=10`
  const running = await startServer(plantstoreBefore(url, `${roundTrip} ms`))
  const { startMs, page, create, perSecond } = await measure(running)
  await running.stop()
  await proxy.stop()
  const figures = [decimals(startMs / 1000, 1), decimals(page, 0), decimals(create, 0)]
  rows.push([`${roundTrip} ms`, ...figures, thousands(perSecond)])
}
await postgres.stop()
console.log(table(['round trip', 'start, s', 'page, ms', 'create, ms', 'creates/s'], rows))
