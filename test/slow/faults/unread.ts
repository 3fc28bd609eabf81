// Clients whose bodies, or whose answers, nobody reads.
import { join } from 'node:path'
import { startDaemon } from '../../harness/daemon.ts'
import { once, pour, request } from '../../harness/http.ts'
import { openNonReaders } from '../../harness/non-readers.ts'
import { type Daemon, plantstore } from './daemon.ts'
import { comesTrue, type Fault, type Outcome } from './fault.ts'
import { after, need, sh } from './lab.ts'
import { create, fateOf, type Ledger } from './load.ts'
import { type Answers, judge, pressed } from './pressure.ts'
import { ownMemory } from './process.ts'

const megabytes = 256
// Memory limit of the daemon after all clients have disconnected: at rest it needs 12 MB.
const megabytesAfter = 110
// Every connection is closed by then: Bun looks every 4 seconds.
const longestWait = 30_000
// As in `memory-unfinished`: what was lowered cannot be raised again everywhere.
const files = 10_000

type Clients = { readonly send: (text: string) => void; readonly close: () => void }

function connectNonReaders(daemon: Daemon, many: number): Clients {
  const clients = openNonReaders(daemon.port, many)
  after(clients.close)
  return clients
}

const unsent = (daemon: Daemon): Promise<number> => daemon.metric('plantstore_unsent_bytes')

/** The requests of ordinary clients in the meantime: a create, a read and a short list. */
async function ordinary(daemon: Daemon, ledger: Ledger): Promise<string[]> {
  const problems: string[] = []
  for (let n = 1; n <= 20; n++) {
    ledger.set(n, fateOf(await create(daemon, n)))
    if (ledger.get(n)?.fate !== 'stored') problems.push('a create was refused')
    const list = await once(daemon.port, request('GET', '/plants?limit=5', daemon.token))
    if (list?.status !== 200) problems.push(`a short list: ${list?.status}`)
  }
  return problems
}

async function recovered(daemon: Daemon): Promise<string[]> {
  const problems: string[] = []
  const isBack = () => ownMemory(daemon.pid) < megabytesAfter
  if (!(await comesTrue(10_000, isBack))) problems.push(`still ${ownMemory(daemon.pid)} MB`)
  if ((await unsent(daemon)) !== 0) problems.push('answers to clients that have gone are counted')
  return problems
}

async function pressedMore(
  folder: string,
  about: string,
  press: (daemon: Daemon, ledger: Ledger) => Promise<Answers>,
): Promise<Outcome> {
  await need('prlimit')
  const most = `--nofile=${files}:${files}`
  await sh('prlimit', '--pid', `${process.pid}`, most)
  const start = { wrap: ['prlimit', most], megabytes }
  return pressed(folder, about, press, start)
}

/** Many clients send one request each, `times` times, and read nothing; ordinary clients go on. */
function unread(name: string, about: string, many: number, of: Unread): Fault {
  return {
    name,
    about,
    run: (folder) =>
      pressedMore(folder, about, async (daemon, ledger) => {
        const { names = [] } = of
        await store(daemon, names)
        const problems: string[] = []
        const clients = connectNonReaders(daemon, many)
        for (let sent = 0; sent < (of.times ?? 1); sent++) {
          if (sent > 0) await Bun.sleep(many / 10)
          clients.send(of.request(daemon))
        }
        await Bun.sleep(2000)
        problems.push(...(await ordinary(daemon, ledger)))
        if (of.isCounted) {
          if ((await unsent(daemon)) < 20e6) problems.push('its bound was not reached')
          const isClosed = await comesTrue(longestWait, async () => (await unsent(daemon)) === 0)
          if (!isClosed) problems.push('who reads nothing is not disconnected')
        }
        clients.close()
        problems.push(...(await recovered(daemon)))
        await remove(daemon, names)
        return { many: `${many} connections`, problems }
      }),
  }
}

type Unread = {
  /** Of plants that are stored before. */
  readonly names?: string[]
  readonly request: (daemon: Daemon) => string
  readonly times?: number
  /** True if the answers are long. */
  readonly isCounted?: boolean
}

/** Stores plants with the ids from 0. */
async function store(daemon: Daemon, names: string[]): Promise<void> {
  const plants = names.map((name, id) => ({ id, name }))
  for (let from = 0; from < plants.length; from += 100) {
    const body = JSON.stringify({ plants: plants.slice(from, from + 100) })
    const answer = await once(daemon.port, request('POST', '/plants/batch', daemon.token, body))
    if (answer?.status !== 200) throw new Error(`not stored: ${answer?.status}`)
  }
}

async function remove(daemon: Daemon, names: string[]): Promise<void> {
  for (const id of names.keys()) {
    await once(daemon.port, request('DELETE', `/plants/${id}`, daemon.token))
  }
}

/** Asks for a list of 1.5 MB through a unix socket and reads nothing; the milliseconds until the daemon gives it up. */
async function giveUp(folder: string): Promise<number> {
  const unix = join(folder, 'plants.sock')
  await using daemon = await startDaemon({
    program: plantstore,
    database: join(folder, 'plants.db'),
    args: ['--unix', unix],
  })
  const plants = Array.from({ length: 150 }, (_, id) => ({ id, name: '\u0001'.repeat(900) }))
  await daemon.fetch('/plants/batch', { unix, json: { plants } })
  const client = await Bun.connect({ unix, socket: { data: (socket) => void socket.pause() } })
  after(() => client.terminate())
  client.write(request('GET', '/plants?limit=1000', daemon.token))
  const isUnread = async () => {
    const metrics = await (await daemon.fetch('/metrics', { unix })).text()
    return !/^plantstore_unsent_bytes 0$/m.test(metrics)
  }
  if (!(await comesTrue(5000, isUnread))) throw new Error('the answer was not kept')
  const started = performance.now()
  await comesTrue(90_000, async () => !(await isUnread()))
  return performance.now() - started
}

export const unreadFaults: Fault[] = [
  {
    name: 'unread-unix',
    about: 'a client of a unix socket that reads nothing',
    async run(folder) {
      await need()
      const seconds = Math.round((await giveUp(folder)) / 1000)
      const problems = seconds > longestWait / 1000 ? ['it was not disconnected in time'] : []
      return { tried: this.about, many: '1', lost: `disconnected after ${seconds} s`, problems }
    },
  },
  {
    name: 'memory-deletes',
    about: '2000 clients that send a DELETE with a body of 900 KB',
    run(folder) {
      return pressedMore(folder, this.about, async (daemon, ledger) => {
        const part = Buffer.alloc(60 * 1024, 'x')
        const head = request('DELETE', '/plants/1', daemon.token, undefined, {
          'content-length': String(15 * part.length),
        })
        const pouring = Promise.all(
          Array.from({ length: 2000 }, () => pour(daemon.port, head, part, 15)),
        )
        const problems = await ordinary(daemon, ledger)
        const judged = judge('request', await pouring, [40402, 50301])
        problems.push(...judged.problems, ...(await recovered(daemon)))
        return { many: judged.many, problems }
      })
    },
  },
  unread('memory-unread-lists', '500 clients that list 1.5 MB and read nothing', 500, {
    names: Array(300).fill('\u0001'.repeat(900)),
    request: (daemon) => request('GET', '/plants?limit=1000', daemon.token),
    isCounted: true,
  }),
  unread('memory-unread-patches', '500 clients that patch a plant of 1 MB and read nothing', 500, {
    names: ['x'.repeat(1_000_000)],
    request: (daemon) => request('PATCH', '/plants/0', daemon.token, '{"tag":"x"}'),
  }),
  unread(
    'memory-unread-pages',
    '7500 clients of the console, without a token, that read nothing',
    7500,
    {
      request: () => 'GET /console/main.js HTTP/1.1\r\nHost: x\r\n\r\n',
    },
  ),
  unread('memory-unread-short', '7500 clients that read plants of 4 KB and read no answer', 7500, {
    names: ['x'.repeat(4000)],
    request: (daemon) => request('GET', '/plants/0', daemon.token),
    times: 20,
  }),
]
