// What holds behind any proxy: whole answers over kept connections, errors as they are, and restarts that lose nothing.
import { readFileSync } from 'node:fs'
import { type Daemon, startDaemon, TOKEN } from '../../harness/daemon.ts'
import { readEvents, take } from '../../harness/events.ts'
import { type Answer, createClient, head, request } from '../../harness/http.ts'
import { storedPlants } from '../../harness/plants.ts'
import { until } from '../faults/fault.ts'
import { DATABASE, expect, HOST } from './case.ts'

const URL_OF_PROXY = `https://${HOST}`
const CLIENTS = 16
const RESTARTS = 5
// Each proxy closes an idle connection after 30 s, and plantstore after 60.
const IDLE_MS = 50_000

export const startPlantstore = (...args: string[]): Promise<Daemon> =>
  startDaemon({
    database: DATABASE,
    args: args.includes('--unix') ? args : ['--port', '3000', ...args],
  })

const create = (id: number) =>
  request('POST', '/plants', TOKEN, `{"id":${id},"name":"Rose"}`).replace('localhost', HOST)

const read = () => request('GET', '/plants?limit=1', TOKEN).replace('localhost', HOST)

export async function send(bytes: string): Promise<Answer> {
  const client = createClient(URL_OF_PROXY)
  const answer = await client.exchange(bytes)
  client.end()
  if (!answer) throw new Error('the proxy closed the connection without an answer')
  return answer
}

/** Sends requests over kept connections until it is stopped, one for each number; returns how each ended. */
export function startLoad(from: number, toRequest: (id: number) => string) {
  const statuses = new Map<number, number>()
  let next = from
  let isOver = false
  const run = async () => {
    const client = createClient(URL_OF_PROXY)
    while (!isOver) {
      const id = next++
      const answer = await client.exchange(toRequest(id))
      statuses.set(id, answer?.status ?? 0)
      if (answer?.status !== 200) await Bun.sleep(5)
    }
    client.end()
  }
  const ended = Promise.all(Array.from({ length: CLIENTS }, run))
  return {
    async stop() {
      isOver = true
      await ended
      return statuses
    },
  }
}

type TcpRow = { readonly local: number; readonly remote: number; readonly state: string }

/** The connections of this network, by /proc/net/tcp. */
function connections(): TcpRow[] {
  const [, ...rows] = readFileSync('/proc/net/tcp', 'utf8').trim().split('\n')
  const portOf = (address = '') => Number.parseInt(address.split(':')[1] ?? '', 16)
  return rows.map((row) => {
    const [, local, remote, state = ''] = row.trim().split(/\s+/)
    return { local: portOf(local), remote: portOf(remote), state }
  })
}

const ESTABLISHED = '01'
const TIME_WAIT = '06'

/** Checks that few connections to plantstore carry many requests, and that the proxy closes them when they are idle. */
export async function checkConnections(): Promise<string> {
  const load = startLoad(1, create)
  await Bun.sleep(2000)
  const answers = (await load.stop()).size
  const count = (test: (row: TcpRow) => boolean) => connections().filter(test).length
  const open = () => count(({ state, remote }) => state === ESTABLISHED && remote === 3000)
  const opened = count(({ local, remote }) => local === 3000 || remote === 3000)
  expect(open() > 0, 'no connection to plantstore was kept')
  expect(opened < answers / 10, `${opened} connections for ${answers} requests`)

  // Whoever closes a connection first keeps it in TIME_WAIT for a minute.
  const closedByPlantstore = () =>
    count(({ state, local }) => state === TIME_WAIT && local === 3000)
  const before = closedByPlantstore()
  expect(await until(IDLE_MS, () => open() === 0), 'the proxy does not close idle connections')
  const byPlantstore = closedByPlantstore() - before
  expect(byPlantstore <= 0, `plantstore closed ${byPlantstore} idle connections first`)
  return `${answers} creates`
}

/** Checks that the errors of plantstore arrive as they are. */
export async function checkErrors(): Promise<void> {
  const unknown = await send(head('GET /plants', { host: HOST }))
  expect(unknown.status === 401 && unknown.body.includes('40101'), 'no 401 without a token')
  const body = `{"id":1,"name":"${'x'.repeat(1_500_000)}"}`
  const long = await send(request('POST', '/plants', TOKEN, body).replace('localhost', HOST))
  expect(long.status === 413 && long.body.includes('41301'), `a long body: ${long.status}`)
}

/** Checks that a change reaches a follower at once, though nothing comes after it. */
export async function checkStream(daemon: Daemon): Promise<string> {
  const url = `${URL_OF_PROXY}/plants/changes?after=now`
  const headers = { authorization: `Bearer ${TOKEN}`, accept: 'text/event-stream' }
  const answer = await fetch(url, { headers, tls: { rejectUnauthorized: false } })
  const events = readEvents(answer)
  await events.next()
  const started = performance.now()
  await daemon.fetch('/plants', { json: { id: 900_000, name: 'Rose' } })
  await take(events, 1)
  const milliseconds = Math.round(performance.now() - started)
  await events.return()
  // One that is held back waits for the comment that comes after 10 s.
  expect(milliseconds < 5000, `a change took ${milliseconds} ms to its follower`)
  return `a change in ${milliseconds} ms`
}

/** The requests that were answered with 200, and those with an allowed status. Fails the case at any other. */
function split(statuses: ReadonlyMap<number, number>, allowed: readonly number[]) {
  const others = [...statuses].filter(([, status]) => status !== 200)
  const kinds = new Set(others.map(([, status]) => status)).difference(new Set(allowed))
  expect(kinds.size === 0, `answers with ${[...kinds]}`)
  const good = [...statuses].filter(([, status]) => status === 200)
  return [good.map(([id]) => id), others.map(([id]) => id)] as const
}

/**
 * Restarts plantstore under load. What was answered with 200 is stored, what was refused is not. The statuses besides 200
 * are only those that are allowed to reads and to creates.
 */
export async function checkRestarts(
  daemon: Daemon,
  allowed: { readonly reads: readonly number[]; readonly creates: readonly number[] },
): Promise<string> {
  const creates = startLoad(1_000_000, create)
  const reads = startLoad(0, read)
  let current = daemon
  for (let round = 0; round < RESTARTS; round++) {
    await Bun.sleep(500)
    expect((await current.stop()) === 0, 'plantstore did not stop in order')
    current = await startPlantstore()
  }
  await Bun.sleep(500)
  const [created, refused] = split(await creates.stop(), allowed.creates)
  const [answered, unanswered] = split(await reads.stop(), allowed.reads)
  const stored = new Set(storedPlants(DATABASE).map(({ id }) => Number(id)))
  const lost = created.filter((id) => !stored.has(id)).length
  expect(lost === 0, `${lost} plants lost`)
  const strange = refused.filter((id) => stored.has(id)).length
  expect(strange === 0, `${strange} plants refused and stored`)
  await current.stop()
  const total = created.length + refused.length + answered.length + unanswered.length
  const failed = `502: ${refused.length} creates, ${unanswered.length} reads`
  return `${RESTARTS} restarts under load, ${total} requests, ${failed}`
}
