// Requirements of any proxy: whole answers over kept connections, unchanged errors, and restarts without loss.
import { readFileSync, writeFileSync } from 'node:fs'
import { dirname } from 'node:path'
import { type Daemon, startDaemon, TOKEN } from '../../harness/daemon.ts'
import { readEvents, take } from '../../harness/events.ts'
import { type Answer, createClient, head, request } from '../../harness/http.ts'
import { storedPlants } from '../../harness/plants.ts'
import { until } from '../../harness/until.ts'
import { sh } from '../faults/lab.ts'
import { DATABASE, expect, HOST, page } from './case.ts'

/** The certificate of the page, and its key. */
export const CERTIFICATE = `/etc/letsencrypt/live/${HOST}/fullchain.pem`
export const PRIVATE_KEY = `/etc/letsencrypt/live/${HOST}/privkey.pem`

/** The unix socket of the page. */
const SOCKET = '/run/plantstore/plantstore.sock'

const URL_OF_PROXY = `https://${HOST}`
const CLIENTS = 16
const RESTARTS = 5
// Each proxy closes an idle connection after 30 s, and plantstore after 60.
const IDLE_MS = 50_000
const EXPIRY_MS = 32_000
const REPLACED_MS = 10_000

export const startPlantstore = (...args: string[]): Promise<Daemon> =>
  startDaemon({
    database: DATABASE,
    args: args.includes('--unix') ? args : ['--port', '3000', ...args],
  })

const create = (id: number) =>
  request('POST', '/plants', TOKEN, `{"id":${id},"name":"Rose"}`).replace('localhost', HOST)

const read = () => request('GET', '/plants?limit=1', TOKEN).replace('localhost', HOST)

async function send(bytes: string): Promise<Answer> {
  const client = createClient(URL_OF_PROXY)
  const answer = await client.exchange(bytes)
  client.end()
  if (!answer) throw new Error('the proxy closed the connection without an answer')
  return answer
}

/** Waits until plantstore answers through the proxy. */
async function checkUp(): Promise<void> {
  const isUp = () =>
    send(head('GET /health', { host: HOST })).then(
      ({ status }) => status === 200,
      () => false,
    )
  await until('an answer of the proxy', isUp)
}

/** Makes the certificate of the page. */
export async function makeCertificate(): Promise<void> {
  await sh('mkdir', '-p', dirname(CERTIFICATE))
  await sh(
    ...['openssl', 'req', '-x509', '-newkey', 'rsa:2048', '-nodes', '-subj', `/CN=${HOST}`],
    ...['-out', CERTIFICATE, '-keyout', PRIVATE_KEY],
  )
}

/**
 * Makes a proxy use the unix socket, as its file says, and lets the proxy's user use it as the page says; checks that
 * it answers once `reload` has it read the file.
 */
export async function checkSocket(file: string, reload: () => unknown): Promise<void> {
  const before = readFileSync(file, 'utf8')
  const text = before.replace(/^(\s*)\S.*\n\s*# For a unix socket: (.*)$/gm, '$1$2')
  expect(text !== before, `${file} has no line for a socket`)
  writeFileSync(file, text)
  const [, member = ''] = /^sudo (usermod .*)$/m.exec(page) ?? []
  await sh('sh', '-c', `groupadd --force plantstore && ${member}`)
  await startPlantstore('--unix', SOCKET)
  // As if plantstore's own user had started it.
  await sh('chgrp', 'plantstore', SOCKET)
  await reload()
  await checkUp()
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

/** The proxy's ports of its open connections to plantstore. */
const openPorts = (): Set<number> =>
  new Set(
    connections()
      .filter(({ state, remote }) => state === ESTABLISHED && remote === 3000)
      .map(({ local }) => local),
  )

/** Checks that few connections to plantstore carry many requests. */
async function checkKeepAlive(): Promise<void> {
  const load = startLoad(1, create)
  await Bun.sleep(2000)
  const answers = (await load.stop()).size
  const opened = connections().filter(({ local, remote }) => local === 3000 || remote === 3000)
  expect(openPorts().size > 0, 'no connection to plantstore was kept')
  expect(opened.length < answers / 10, `${opened.length} connections for ${answers} requests`)
}

/** Checks that connections are kept, and that the proxy closes them when they are idle, before plantstore would. */
export async function checkConnections(): Promise<void> {
  await checkKeepAlive()
  await until('idle connections closed', () => openPorts().size === 0, IDLE_MS)
}

/**
 * Checks that connections are kept, and replaced when they have been idle: Apache closes them at its next request only.
 */
export async function checkReplacedConnections(): Promise<void> {
  await checkKeepAlive()
  const before = openPorts()
  await Bun.sleep(EXPIRY_MS)
  const load = startLoad(500_000, create)
  // Only those that a request would have used are replaced.
  const areReplaced = () => openPorts().intersection(before).size < before.size / 2
  await until('idle connections replaced', areReplaced, REPLACED_MS)
  await load.stop()
}

/** Checks that the errors of plantstore arrive as they are. */
async function checkErrors(): Promise<void> {
  const unknown = await send(head('GET /plants', { host: HOST }))
  expect(unknown.status === 401 && unknown.body.includes('40101'), 'no 401 without a token')
  const body = `{"id":1,"name":"${'x'.repeat(1_500_000)}"}`
  const long = await send(request('POST', '/plants', TOKEN, body).replace('localhost', HOST))
  expect(long.status === 413 && long.body.includes('41301'), `a long body: ${long.status}`)
}

/** Checks that a compressed answer's ETag is good for the next write, once, and for a cached copy. */
async function checkConditions(daemon: Daemon): Promise<void> {
  // Long enough that every proxy compresses it.
  await daemon.fetch('/plants', { json: { id: 800_000, name: 'Rosa '.repeat(400) } })
  const toPlant = (method: string, conditions: Record<string, string> = {}, body?: string) =>
    fetch(`${URL_OF_PROXY}/plants/800000`, {
      method,
      headers: {
        authorization: `Bearer ${TOKEN}`,
        'accept-encoding': 'gzip',
        ...(body ? { 'content-type': 'application/json' } : {}),
        ...conditions,
      },
      ...(body ? { body } : {}),
      tls: { rejectUnauthorized: false },
    })
  const { headers } = await toPlant('GET')
  const tag = headers.get('etag') ?? 'none'
  expect(headers.get('content-encoding') === 'gzip', 'the proxy did not compress')
  const copy = await toPlant('GET', { 'if-none-match': tag })
  expect(copy.status === 304, `If-None-Match: ${tag}: ${copy.status}`)
  const first = await toPlant('PUT', { 'if-match': tag }, '{"name":"Rose"}')
  expect(first.status === 200, `If-Match: ${tag}: ${first.status}`)
  const second = await toPlant('PUT', { 'if-match': tag }, '{"name":"Lily"}')
  expect(second.status === 412, `the same If-Match again: ${second.status}`)
}

/** Checks that a change reaches a follower at once, though nothing comes after it. */
async function checkStream(daemon: Daemon): Promise<void> {
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
}

/** The requests that were answered with 200, and those with an allowed status. Fails the case at any other. */
function split(statuses: ReadonlyMap<number, number>, allowed: readonly number[]) {
  const others = [...statuses].filter(([, status]) => status !== 200)
  const kinds = new Set(others.map(([, status]) => status)).difference(new Set(allowed))
  expect(kinds.size === 0, `answers with ${[...kinds]}`)
  const good = [...statuses].filter(([, status]) => status === 200)
  return [good.map(([id]) => id), others.map(([id]) => id)] as const
}

type Statuses = { readonly reads: readonly number[]; readonly creates: readonly number[] }

/**
 * Restarts plantstore under load. What was answered with 200 is stored, what was refused is not. The statuses besides
 * 200 are only those that are allowed to reads and to creates; 0: the proxy closed the connection without an answer.
 */
async function checkRestarts(daemon: Daemon, allowed: Statuses): Promise<void> {
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
  split(await reads.stop(), allowed.reads)
  const stored = new Set(storedPlants(DATABASE).map(({ id }) => Number(id)))
  const lost = created.filter((id) => !stored.has(id)).length
  expect(lost === 0, `${lost} plants lost`)
  const strange = refused.filter((id) => stored.has(id)).length
  expect(strange === 0, `${strange} plants refused and stored`)
  await current.stop()
}

/** Checks a proxy that `start` starts. `allowed`: statuses while plantstore restarts. */
export async function checkProxy(
  start: () => unknown,
  allowed: Statuses,
  checkIdle: () => Promise<void> = checkConnections,
): Promise<void> {
  const daemon = await startPlantstore('--keep-changes', '1d')
  await start()
  await checkUp()
  await checkIdle()
  await checkErrors()
  await checkConditions(daemon)
  await checkStream(daemon)
  await checkRestarts(daemon, allowed)
}
