// Many clients beside one that creates: it is not kept waiting, and no connection or memory is lost.
import { join } from 'node:path'
import { type Connection, connect, request } from '../../harness/http.ts'
import { type Daemon, serve } from './daemon.ts'
import type { Fault } from './fault.ts'
import { after, need } from './lab.ts'
import { bodyOf, type Ledger, nextNumber, recovers, startLoad } from './load.ts'
import { type Pressure, pressed, type Scene } from './memory.ts'
import { openFiles } from './process.ts'
import { endWell } from './verify.ts'

// What it needs at rest is about 30; the kernel needs some for each connection.
const MEGABYTES = 200

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
  clients: number
  /** What the clients do; ends when they are disconnected. */
  press: (daemon: Daemon, connections: readonly Connection[]) => Promise<unknown>
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

/** Lets a crowd press a daemon, beside a client that creates. */
const crowded = (crowd: Crowd) => async (scene: Scene) => {
  const { daemon, ledger, report } = scene
  const usual = await probe(daemon, ledger, 2000)
  const files = openFiles(daemon.pid)
  const connections = await connectMany(daemon.port, crowd.clients)
  const endAll = after(() => {
    for (const connection of connections) connection.end()
  })
  // The connection of the probe before may have been closed since.
  const isConnected = () => openFiles(daemon.pid) >= files + crowd.clients - 5
  await report.expectSoon(20_000, isConnected, 'not all were accepted')
  const pressing = crowd.press(daemon, connections)
  const beside = await probe(daemon, ledger, 5000)
  await endAll()
  await pressing
  // The limits allow for a noisy machine with two cores, not for a server that waits for its clients.
  report.expect(beside <= Math.max(500, 4 * usual), 'the probe was kept waiting')
  const isReleased = () => openFiles(daemon.pid) <= files + 5
  await report.expectSoon(10_000, isReleased, 'connections are leaked')
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

const crowds: (Crowd & Pick<Pressure, 'name' | 'about'>)[] = [
  {
    name: 'idle-connections',
    about: '10,000 idle connections',
    clients: 10_000,
    press: async () => {},
  },
  {
    name: 'slow-clients',
    about: '400 clients that send a byte at a time, half of them in the body',
    clients: 400,
    press: drip,
  },
]

const LIMIT = 64
const CLIENTS = 200

export const crowdFaults: Fault[] = [
  ...crowds.map(
    ({ name, about, ...crowd }): Fault => ({
      name,
      about,
      run: (folder, report) =>
        pressed(folder, { name, about, press: crowded(crowd), megabytes: MEGABYTES }, report),
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
