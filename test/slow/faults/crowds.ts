// Many clients beside one that creates: it is not kept waiting, and no connection or memory is lost.
import { join } from 'node:path'
import { type Connection, connect, request } from '../../harness/http.ts'
import { type Daemon, serve } from './daemon.ts'
import type { Fault, Report } from './fault.ts'
import { after, need, sh } from './lab.ts'
import { bodyOf, type Ledger, nextNumber, recovers, startLoad } from './load.ts'
import { openFiles, watchMemory } from './process.ts'
import { endWell, faultsOf, stopWell, verify } from './verify.ts'

// Of its own memory; what it needs at rest is about 30.
const MAX_MEGABYTES = 160

/** Sends creates one by one; returns the 99th percentile of their times in milliseconds. */
async function probe(daemon: Daemon, ledger: Ledger, ms: number): Promise<number> {
  const times: number[] = []
  using connection = await connect(daemon.port)
  const end = performance.now() + ms
  while (performance.now() < end) {
    const n = nextNumber(ledger)
    const start = performance.now()
    const answer = await connection.send(request('POST', '/plants', daemon.token, bodyOf(n)))
    times.push(performance.now() - start)
    if (answer?.status !== 200) throw new Error(`the probe was answered ${answer?.status}`)
    ledger.set(n, { fate: 'stored', error: 0 })
    await Bun.sleep(10)
  }
  times.sort((a, b) => a - b)
  return times[Math.floor(times.length * 0.99)] ?? 0
}

interface Crowd {
  name: string
  about: string
  clients: number
  /** Plants that are stored before. */
  prepare?: (daemon: Daemon) => Promise<unknown>
  /** What the clients do; ends when they are disconnected. */
  press: (daemon: Daemon, connections: readonly Connection[], report: Report) => Promise<unknown>
  stored?: number
  /** The p99 of a create beside them, as a multiple of that beside none. */
  slowest: number
}

async function connectMany(port: number, clients: number): Promise<Connection[]> {
  const connections: Connection[] = []
  while (connections.length < clients) {
    const batch = Array.from({ length: Math.min(250, clients - connections.length) }, () =>
      connect(port),
    )
    connections.push(...(await Promise.all(batch)))
  }
  return connections
}

const FILES = '--nofile=20000:20000'

async function crowded(folder: string, crowd: Crowd, report: Report): Promise<void> {
  await need('prlimit')
  await sh('prlimit', '--pid', `${process.pid}`, FILES)
  const database = join(folder, 'plants.db')
  const ledger: Ledger = new Map()
  const daemon = await serve(database, { wrap: ['prlimit', FILES] })
  await crowd.prepare?.(daemon)
  const memory = watchMemory(daemon.pid)
  const usual = await probe(daemon, ledger, 2000)
  const files = openFiles(daemon.pid)
  const connections = await connectMany(daemon.port, crowd.clients)
  const endAll = after(() => {
    for (const connection of connections) connection.end()
  })
  // The connection of the probe before may have been closed since.
  const isConnected = () => openFiles(daemon.pid) >= files + crowd.clients - 5
  await report.expectSoon(20_000, isConnected, 'not all were accepted')
  const pressing = crowd.press(daemon, connections, report)
  const beside = await probe(daemon, ledger, 5000)
  await endAll()
  await pressing
  // The limits allow for a noisy machine with two cores, not for a server that waits for its clients.
  report.expect(beside <= Math.max(500, crowd.slowest * usual), 'the probe was kept waiting')
  const isReleased = () => openFiles(daemon.pid) <= files + 5
  await report.expectSoon(10_000, isReleased, 'connections are leaked')
  memory.stop()
  report.expect(memory.peak() <= MAX_MEGABYTES, 'too much memory')
  await stopWell(daemon, report)
  const verdict = verify(database, ledger)
  report.note(...faultsOf({ ...verdict, strange: verdict.strange - (crowd.stored ?? 0) }))
}

/** Sends bodies a byte at a time, half of them from the midst of their heads, and none to its end. */
async function drip({ token }: Daemon, connections: readonly Connection[]): Promise<void> {
  const slow = connections.map((connection, i) => {
    const text = request('POST', '/plants', token, bodyOf(1e6 + i))
    const sent = i % 2 === 0 ? 10 : text.indexOf('\r\n\r\n') + 4
    connection.write(text.slice(0, sent))
    return { connection, text, sent }
  })
  while (slow.some(({ connection }) => !connection.closed())) {
    for (const it of slow) {
      if (it.sent < it.text.length - 1) it.connection.write(it.text.charAt(it.sent++))
    }
    await Bun.sleep(200)
  }
}

const PLANTS = 200_000
const TAGS = 10

/** Ids are spread, so that the plants of a tag are far apart in the file. */
async function fill(daemon: Daemon): Promise<void> {
  for (let from = 0; from < PLANTS; from += 1000) {
    const plants = Array.from({ length: 1000 }, (_, index) => {
      const n = from + index
      const id = (n * 7919) % PLANTS
      return { id, name: `Plant ${n} ${'of a long name '.repeat(10)}`, tag: `t${n % TAGS}` }
    })
    const answer = await daemon.fetch('/plants/batch', { json: { plants } })
    if (answer.status !== 200) throw new Error(await answer.text())
  }
}

/** Walks all plants of a tag for a name that none has, again and again: no client gets much less than another. */
async function search({ token }: Daemon, connections: readonly Connection[], report: Report) {
  const answers = connections.map(() => 0)
  const walk = async (connection: Connection, client: number): Promise<void> => {
    const path = `/plants?limit=100&name=nothing&tag=t${client % TAGS}`
    for (let after = ''; ; ) {
      const answer = await connection.send(request('GET', `${path}${after}`, token))
      if (!answer) return
      report.expect(answer.status === 200, `a search is answered with ${answer.status}`)
      answers[client] = (answers[client] ?? 0) + 1
      const { next }: { next: string | null } = JSON.parse(answer.body)
      after = next === null ? '' : `&after=${next}`
    }
  }
  await Promise.all(connections.map(walk))
  const [least, most] = [Math.min(...answers), Math.max(...answers)]
  report.expect(least * 2 >= most, `a client got ${least} answers, another ${most}`)
}

const crowds: Crowd[] = [
  {
    name: 'idle-connections',
    about: '10,000 idle connections',
    clients: 10_000,
    press: async () => {},
    slowest: 4,
  },
  {
    name: 'slow-clients',
    about: '400 clients that send a byte at a time, half of them in the body',
    clients: 400,
    press: drip,
    slowest: 4,
  },
  {
    name: 'searches',
    about: '200 clients that search by name and tag without a pause',
    clients: 200,
    prepare: fill,
    press: search,
    stored: PLANTS,
    slowest: 50,
  },
]

const LIMIT = 64
const CLIENTS = 200

export const crowdFaults: Fault[] = [
  ...crowds.map(
    (crowd): Fault => ({
      name: crowd.name,
      about: crowd.about,
      run: (folder, report) => crowded(folder, crowd, report),
    }),
  ),
  {
    name: 'descriptors',
    about: `${CLIENTS} clients of a daemon that may open ${LIMIT} files`,
    async run(folder, report) {
      await need('prlimit')
      const database = join(folder, 'plants.db')
      const daemon = await serve(database, { wrap: ['prlimit', `--nofile=${LIMIT}:${LIMIT}`] })
      const load = startLoad(daemon, { clients: CLIENTS, reconnect: true })
      await Bun.sleep(2000)
      report.expect(daemon.alive(), 'it crashed')
      load.abandon()
      await load.stop()
      report.expect(await recovers(daemon, load.ledger, 10_000), 'it did not recover')
      await endWell(daemon, database, load.ledger, report)
    },
  },
]
