// Requests and clients that could take more memory than there is.
import { join } from 'node:path'
import { type Answer, type Connection, connect, once, pour, request } from '../../harness/http.ts'
import { openNonReaders } from '../../harness/non-readers.ts'
import { memoryLimit } from './cgroup.ts'
import { type Daemon, serve } from './daemon.ts'
import type { Fault, Report } from './fault.ts'
import { after, need, sh } from './lab.ts'
import { bodyOf, bulky, create, errorOf, fateOf, health, type Ledger, recovers } from './load.ts'
import { ownMemory, watchMemory } from './process.ts'
import { endWell } from './verify.ts'

export const megabytes = 128

export interface Scene {
  daemon: Daemon
  ledger: Ledger
  report: Report
}

export interface Pressure {
  name: string
  about: string
  /** Presses a daemon within a limit of memory, which lives and still works afterwards. */
  press: (scene: Scene) => Promise<unknown>
  /** The limit; default: 128. */
  megabytes?: number
  /** Commands that run the daemon. */
  wrap?: string[]
}

// What was lowered cannot be raised again everywhere.
const FILES = '--nofile=20000:20000'

export async function pressed(folder: string, it: Pressure, report: Report): Promise<void> {
  await need('prlimit', 'strace')
  await sh('prlimit', '--pid', `${process.pid}`, FILES)
  const database = join(folder, 'plants.db')
  const most = it.megabytes ?? megabytes
  const limit = memoryLimit(most)
  const wrap = ['prlimit', FILES, ...(it.wrap ?? []), ...(limit?.wrap ?? [])]
  const ledger: Ledger = new Map()
  const daemon = await serve(database, { wrap })
  const memory = watchMemory(daemon.pid)
  await it.press({ daemon, ledger, report })
  report.expect(daemon.alive(), 'it ended')
  report.expect((limit?.kills() ?? 0) === 0, 'killed for want of memory')
  report.expect(limit !== undefined || memory.peak() <= most, 'too much memory')
  report.expect(await recovers(daemon, ledger, 10_000), 'no creates afterwards')
  memory.stop()
  await endWell(daemon, database, ledger, report)
}

const send = ({ daemon }: Scene, body: string) =>
  once(daemon.port, request('POST', '/plants', daemon.token, body))

/** Sends creates, and remembers their answers. */
async function store(scene: Scene, ...numbers: number[]): Promise<(Answer | undefined)[]> {
  const sent = numbers.map(async (n) => {
    const answer = await create(scene.daemon, n)
    scene.ledger.set(n, fateOf(answer))
    return answer
  })
  return Promise.all(sent)
}

/** Expects answers of 200, or of these errors. */
function judge({ report }: Scene, answers: (Answer | undefined)[], ...errors: number[]): void {
  for (const answer of answers) {
    const error = answer && (answer.status === 200 ? 200 : errorOf(answer))
    report.expect(error !== undefined && [200, ...errors].includes(error), `answered ${error}`)
  }
}

const repeat = <T>(times: number, make: (n: number) => Promise<T>): Promise<T[]> =>
  Promise.all(Array.from({ length: times }, (_, n) => make(n)))

const PART = Buffer.alloc(60 * 1024, 'x')

/** Bodies of 100 MB, with a length and chunked. */
async function sendBigBodies(scene: Scene): Promise<void> {
  const { port, token } = scene.daemon
  const times = Math.ceil(1e8 / PART.length)
  const chunk = Buffer.concat([
    Buffer.from(`${PART.length.toString(16)}\r\n`),
    PART,
    Buffer.from('\r\n'),
  ])
  const headOf = (field: string, value: string) =>
    request('POST', '/plants', token, undefined, {
      'content-type': 'application/json',
      [field]: value,
    })
  const answers = await repeat(6, () =>
    Promise.all([
      pour(port, headOf('content-length', `${times * PART.length}`), PART, times),
      pour(port, headOf('transfer-encoding', 'chunked'), chunk, times, '0\r\n\r\n'),
    ]),
  )
  judge(scene, answers.flat(), 41301)
}

/** Bodies that are discarded: of requests with an unknown token, over and over, and of deletes. */
async function sendRefusedBodies(scene: Scene): Promise<void> {
  const { port, token } = scene.daemon
  const length = { 'content-length': `${15 * PART.length}` }
  const pourAll = (clients: number, head: string) =>
    repeat(clients, () => pour(port, head, PART, 15))
  const refused = request('POST', '/plants', 'unknown', undefined, length)
  for (let more = 0; more < 10; more++) judge(scene, await pourAll(256, refused), 40102)
  const deletes = request('DELETE', '/plants/1', token, undefined, length)
  judge(scene, await pourAll(2000, deletes), 40402, 50301)
}

async function sendUnfinished(scene: Scene): Promise<void> {
  const { port, token } = scene.daemon
  const body = `{"id":1e9,"name":"${'x'.repeat(4096)}`.slice(0, 4096)
  const unfinished = request('POST', '/plants', token, body).slice(0, -1)
  const connections = await repeat(4000, () => connect(port))
  for (const connection of connections) connection.write(unfinished)
  await Bun.sleep(1000)
  judge(scene, await store(scene, 1))
  judge(scene, await Promise.all(connections.map((connection) => connection.send('x'))), 40001)
  for (const connection of connections) connection.end()
}

/** Keys as many as fit, and more; and levels of nesting, in an unknown field, in the name, and around all. */
async function sendOddObjects(scene: Scene): Promise<void> {
  const { ledger, report } = scene
  const withMore = (n: number, more: string) => `${bodyOf(n).slice(0, -1)},${more}}`
  const keys = Array.from({ length: 1e6 }, (_, i) => `"_${i.toString(36)}":0`)
  const million = await send(scene, withMore(1, keys.join(',')))
  report.expect(million?.status === 413, `a million keys: ${million?.status}`)
  const fitting = keys.slice(0, 90_000).join(',')
  const bodies = Array.from({ length: 16 }, (_, i) => withMore(i + 1, fitting))
  const deep = ['['.repeat(1e5) + ']'.repeat(1e5), `${'{"a":'.repeat(1e5)}1${'}'.repeat(1e5)}`]
  bodies.push(...deep.map((it, i) => withMore(17 + i, `"deep":${it}`)))
  const answers = await repeat(bodies.length, async (i) => {
    const answer = await send(scene, bodies[i] ?? '')
    ledger.set(i + 1, fateOf(answer))
    return answer
  })
  judge(scene, answers, 40001, 40002)
  for (const it of deep) {
    judge(scene, [await send(scene, it), await send(scene, `{"id":0,"name":${it}}`)], 40001, 40002)
  }
}

/** More than the write queue takes, while the disk is slow: what it refuses can be retried, and the daemon is healthy. */
async function fillQueue(scene: Scene): Promise<void> {
  const { daemon, report } = scene
  const sending = store(scene, ...Array.from({ length: 150 }, (_, i) => bulky + i))
  for (let n = 0; n < 20; n++) {
    const status = await health(daemon)
    report.expect(status === 200, `health said ${status}`)
    await Bun.sleep(50)
  }
  const answers = await sending
  judge(scene, answers, 50301)
  const refused = answers.filter((answer) => answer?.status === 503)
  report.expect(refused.length > 0, 'its bound was not reached')
  const isRetryable = refused.every((it) => /^\d+$/.test(it?.headers['retry-after'] ?? ''))
  report.expect(isRetryable, '50301 without Retry-After')
}

async function listBulky(scene: Scene): Promise<void> {
  for (let n = bulky; n < bulky + 100; n++) await store(scene, n)
  const { port, token } = scene.daemon
  const list = async (connection: Connection) =>
    judge(scene, [await connection.send(request('GET', '/plants?limit=1000', token))])
  await repeat(8, async () => {
    using connection = await connect(port)
    for (let more = 0; more < 6; more++) await list(connection)
  })
}

// The memory of the daemon after all clients have disconnected: at rest it needs 12 MB.
const MEGABYTES_AFTER = 110
// Every connection is closed by then: Bun looks every 4 seconds.
const DISCONNECTED_MS = 30_000

interface Unread {
  clients: number
  /** Plants that are stored before, with ids from 0. */
  names?: string[]
  request: (daemon: Daemon) => string
  times?: number
  /** True if the answers are long. */
  isCounted?: boolean
}

/** Many clients send a request and read no answer, while ordinary clients are served; then they are disconnected. */
const readNothing = (it: Unread) => async (scene: Scene) => {
  const { daemon, report } = scene
  const { names = [], times = 1 } = it
  const plants = names.map((name, id) => ({ id, name }))
  const sendAll = async (path: string) => {
    for (let from = 0; from < plants.length; from += 100) {
      const answer = await daemon.fetch(path, { json: { plants: plants.slice(from, from + 100) } })
      report.expect(answer.ok, `${path}: ${answer.status}`)
    }
  }
  await sendAll('/plants/batch')
  const clients = openNonReaders(daemon.port, it.clients)
  after(clients.close)
  for (let sent = 0; sent < times; sent++) {
    if (sent > 0) await Bun.sleep(it.clients / 10)
    clients.send(it.request(daemon))
  }
  await Bun.sleep(2000)
  const list = request('GET', '/plants?limit=5', daemon.token)
  for (let n = 1; n <= 20; n++)
    judge(scene, [...(await store(scene, n)), await once(daemon.port, list)])
  const unsent = () => daemon.metric('plantstore_unsent_bytes')
  if (it.isCounted) {
    report.expect((await unsent()) >= 20e6, 'its bound was not reached')
    const isClosed = async () => (await unsent()) === 0
    await report.expectSoon(DISCONNECTED_MS, isClosed, 'who reads nothing is not disconnected')
  }
  clients.close()
  const isSmall = () => ownMemory(daemon.pid) < MEGABYTES_AFTER
  await report.expectSoon(10_000, isSmall, 'its memory stays in use')
  report.expect((await unsent()) === 0, 'answers to clients that have gone are counted')
  // Only the plants of the ledger are left.
  await sendAll('/plants/batch-delete')
}

const slowSyncs = ['-e', 'trace=fsync,fdatasync', '-e', 'inject=fsync,fdatasync:delay_enter=300000']

const pressures: Pressure[] = [
  {
    name: 'memory-bodies',
    about: 'bodies of 100 MB at once, with a length and chunked',
    press: sendBigBodies,
  },
  {
    name: 'memory-refused',
    about: '256 clients that send refused bodies of 900 KB, and 2000 with such deletes',
    press: sendRefusedBodies,
  },
  {
    name: 'memory-unfinished',
    about: '4000 clients that send a body of 4 KiB but for its last byte',
    press: sendUnfinished,
  },
  {
    name: 'memory-keys',
    about:
      'a million keys in one object, as many as fit by 16 clients, and 100,000 levels of nesting',
    press: sendOddObjects,
  },
  {
    name: 'memory-queue',
    about: '150 clients with plants of 900 KB, while each fsync takes 300 ms more',
    press: fillQueue,
    // On a busy machine what strace holds up is killed at 128 MB every second time.
    megabytes: 256,
    wrap: ['strace', '-D', '-f', '-qq', '--seccomp-bpf', '-o', '/dev/null', ...slowSyncs],
  },
  {
    name: 'memory-lists',
    about: '8 clients that list 100 plants of 900 KB each, over and over',
    press: listBulky,
  },
  {
    name: 'memory-unread-lists',
    about: '500 clients that list 1.5 MB and read nothing',
    press: readNothing({
      clients: 500,
      names: Array(300).fill('\u0001'.repeat(900)),
      request: ({ token }) => request('GET', '/plants?limit=1000', token),
      isCounted: true,
    }),
    megabytes: 256,
  },
  {
    name: 'memory-unread-pages',
    about: '7500 clients of the console, without a token, that read nothing',
    press: readNothing({
      clients: 7500,
      request: () => 'GET /console/main.js HTTP/1.1\r\nHost: x\r\n\r\n',
    }),
    megabytes: 256,
  },
  {
    name: 'memory-unread-short',
    about: '7500 clients that read plants of 4 KB and read no answer',
    press: readNothing({
      clients: 7500,
      names: ['x'.repeat(4000)],
      request: ({ token }) => request('GET', '/plants/0', token),
      times: 20,
    }),
    megabytes: 256,
  },
]

export const memoryFaults: Fault[] = pressures.map((it) => ({
  name: it.name,
  about: it.about,
  run: (folder, report) => pressed(folder, it, report),
}))
