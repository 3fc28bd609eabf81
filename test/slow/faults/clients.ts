import { join } from 'node:path'
import { type Connection, connect, request } from '../../harness/http.ts'
import { serve } from './daemon.ts'
import { comesTrue, count, type Fault, type Outcome } from './fault.ts'
import { need, sh } from './lab.ts'
import { bodyOf, type Ledger, recovers, startLoad, storedIn } from './load.ts'
import { compare, probe, shown } from './probe.ts'
import { openFiles, watchMemory } from './process.ts'
import { faultsOf, verify } from './verify.ts'

async function connectMany(port: number, many: number): Promise<Connection[]> {
  const connections: Connection[] = []
  while (connections.length < many) {
    const batch = Array.from({ length: Math.min(250, many - connections.length) }, () =>
      connect(port),
    )
    connections.push(...(await Promise.all(batch)))
  }
  return connections
}

async function raiseOwnLimit(files: number): Promise<void> {
  await need('prlimit')
  await sh('prlimit', '--pid', `${process.pid}`, `--nofile=${files}:${files}`)
}

const idleClients = 10_000
const slowClients = 400
const limit = 64
const crowd = 200
// Of its own memory; what it needs at rest is about 30.
const megabytes = 160

async function withFewFiles(folder: string, about: string): Promise<Outcome> {
  await need('prlimit')
  const database = join(folder, 'plants.db')
  const daemon = await serve(database, { wrap: ['prlimit', `--nofile=${limit}:${limit}`] })
  const ledger: Ledger = new Map()
  const load = startLoad(daemon, { ledger, clients: crowd, reconnect: true })
  await Bun.sleep(2000)
  const problems: string[] = []
  if (!daemon.alive()) problems.push(`it crashed with exit code ${await daemon.exited}`)
  load.abandon()
  await load.stop()
  if (!(await recovers(daemon, load.ledger, 10_000))) problems.push('it did not recover')
  const stored = storedIn(load.ledger)
  if ((await daemon.stop()) !== 0) problems.push('a bad exit code')
  const verdict = verify(database, load.ledger)
  problems.push(...faultsOf(verdict))
  const many = `${count(stored, 'plant')} acknowledged, then by one client again`
  return { tried: about, many, lost: `${verdict.lost} lost`, problems }
}

export const clientFaults: Fault[] = [
  {
    name: 'idle-connections',
    about: `${idleClients} idle connections`,
    async run(folder) {
      await raiseOwnLimit(20_000)
      const database = join(folder, 'plants.db')
      const ledger: Ledger = new Map()
      const daemon = await serve(database, { wrap: ['prlimit', '--nofile=20000:20000'] })
      const memory = watchMemory(daemon.pid)
      const usual = await probe(daemon, ledger, 2000)
      const files = openFiles(daemon.pid)
      const connections = await connectMany(daemon.port, idleClients)
      const problems: string[] = []
      // The connection of the probe before may have been closed since.
      if (!(await comesTrue(20_000, () => openFiles(daemon.pid) >= files + idleClients - 5))) {
        problems.push('not all were accepted')
      }
      const crowded = await probe(daemon, ledger, 3000)
      problems.push(...compare(usual, crowded))
      for (const connection of connections) connection.end()
      if (!(await comesTrue(10_000, () => openFiles(daemon.pid) <= files + 5))) {
        problems.push('connections are leaked')
      }
      memory.stop()
      if (memory.peak() > megabytes) problems.push('too much memory')
      if ((await daemon.stop()) !== 0) problems.push('a bad exit code')
      problems.push(...faultsOf(verify(database, ledger)))
      return {
        tried: this.about,
        many: `${count(storedIn(ledger), 'create')} beside them, median/p99 ${shown(crowded)}`,
        lost: `usually ${shown(usual)}; own memory at most ${memory.peak()} MB`,
        problems,
      }
    },
  },
  {
    name: 'slow-clients',
    about: `${slowClients} clients that send a byte at a time, half of them in the body`,
    async run(folder) {
      const database = join(folder, 'plants.db')
      const ledger: Ledger = new Map()
      const daemon = await serve(database)
      const memory = watchMemory(daemon.pid)
      const usual = await probe(daemon, ledger, 2000)
      const connections = await connectMany(daemon.port, slowClients)
      const slow = connections.map((connection, i) => {
        const text = request('POST', '/plants', daemon.token, bodyOf(1e6 + i))
        // The other half is in the midst of its headers.
        const sent = i % 2 === 0 ? 10 : text.indexOf('\r\n\r\n') + 4
        connection.write(text.slice(0, sent))
        return { connection, text, sent }
      })
      const drip = setInterval(() => {
        for (const it of slow) {
          // The last byte is kept back, so that none is ever whole.
          if (it.sent < it.text.length - 1) it.connection.write(it.text.charAt(it.sent++))
        }
      }, 200)
      const crowded = await probe(daemon, ledger, 5000)
      clearInterval(drip)
      memory.stop()
      const problems = compare(usual, crowded)
      for (const connection of connections) connection.end()
      if (memory.peak() > megabytes) problems.push('too much memory')
      if (!(await comesTrue(10_000, () => openFiles(daemon.pid) < 100))) {
        problems.push('connections are leaked')
      }
      if ((await daemon.stop()) !== 0) problems.push('a bad exit code')
      problems.push(...faultsOf(verify(database, ledger)))
      return {
        tried: this.about,
        many: `${count(storedIn(ledger), 'create')} beside them, median/p99 ${shown(crowded)}`,
        lost: `usually ${shown(usual)}; own memory at most ${memory.peak()} MB`,
        problems,
      }
    },
  },
  {
    name: 'descriptors',
    about: `${crowd} clients of a daemon that may open ${limit} files`,
    run(folder) {
      return withFewFiles(folder, this.about)
    },
  },
]
