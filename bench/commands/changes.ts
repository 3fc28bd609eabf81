// `bun run changes`: how soon a change reaches its followers, what idle followers take, and how fast one catches up.
import { join } from 'node:path'
import { number, readFlags } from '../lib/flags.ts'
import { type Arrivals, nameNow } from '../lib/followers.ts'
import { executable, plantstoreAt, token } from '../lib/plantstore.ts'
import { memory } from '../lib/proc.ts'
import { removeFolder, temporaryFolder } from '../lib/processes.ts'
import { writeResults } from '../lib/results.ts'
import { type Running, type Server, startServer } from '../lib/server.ts'
import { setUp } from '../lib/setup.ts'
import { table } from '../lib/table.ts'

const flags = readFlags('Followers of the change log.', {
  followers: { default: '1000', help: 'clients that follow while plants are created' },
  rate: { default: '1000', help: 'creates per second' },
  seconds: { default: '10', help: 'seconds of creates' },
  idle: { default: '5000', help: 'clients that follow while nothing happens' },
  entries: { default: '100000', help: 'entries that one client is behind' },
})

const plain = plantstoreAt(executable)
const logging: Server = {
  ...plain,
  command(port, folder) {
    const command = plain.command(port, folder)
    return { ...command, argv: [...command.argv, '--keep-changes', '1d'] }
  },
}

const headers = { authorization: `Bearer ${token}`, 'content-type': 'application/json' }

async function post(url: string, path: string, body: string): Promise<void> {
  const answer = await fetch(url + path, { method: 'POST', headers, body })
  if (!answer.ok) throw new Error(await answer.text())
  await answer.arrayBuffer()
}

async function startFollowers({ url }: Running, count: number) {
  const script = join(import.meta.dir, '..', 'lib', 'followers.ts')
  const child = Bun.spawn([process.execPath, script, new URL(url).port, token, String(count)], {
    stdin: 'pipe',
    stdout: 'pipe',
    stderr: 'inherit',
  })
  const reader = child.stdout.pipeThrough(new TextDecoderStream()).getReader()
  await reader.read()
  return {
    async end(): Promise<Arrivals> {
      await child.stdin.end()
      let text = ''
      for (;;) {
        const { done, value } = await reader.read()
        if (done) break
        text += value
      }
      return JSON.parse(text)
    },
  }
}

/** Creates plants at a rate, each named by the time at which it was sent. */
async function createAtRate(url: string, perSecond: number, seconds: number, from: number) {
  const started = performance.now()
  const pending = new Set<Promise<void>>()
  for (let sent = 0; sent < perSecond * seconds; ) {
    const due = Math.floor(((performance.now() - started) / 1000) * perSecond)
    for (; sent < due; sent++) {
      const create = post(url, '/plants', `{"id":${from + sent},"name":"${nameNow()}"}`)
      pending.add(create)
      create.finally(() => pending.delete(create))
    }
    await Bun.sleep(1)
  }
  await Promise.all(pending)
  return (performance.now() - started) / 1000
}

/** Seconds until a client that begins at the oldest entry has so many. */
async function catchUp({ url }: Running, entries: number): Promise<number> {
  const started = performance.now()
  const answer = await fetch(`${url}/plants/changes`, {
    headers: { ...headers, accept: 'text/event-stream' },
  })
  const event = Buffer.from('event: ')
  let found = 0
  let rest = Buffer.alloc(0)
  for await (const bytes of answer.body ?? []) {
    const text = Buffer.concat([rest, bytes])
    let last = 0
    for (let at = text.indexOf(event); at >= 0; at = text.indexOf(event, at + 1)) {
      found++
      last = at + 1
    }
    rest = text.subarray(Math.max(last, text.length - event.length + 1))
    if (found >= entries) break
  }
  return (performance.now() - started) / 1000
}

await setUp()
const folder = temporaryFolder()
const server = await startServer(logging, folder)
const entries = number(flags.entries)
for (let from = 0; from < entries; from += 1000) {
  const plants = Array.from({ length: 1000 }, (_, index) => ({
    id: from + index,
    name: 'Monstera deliciosa',
    tag: 'aroid',
  }))
  await post(server.url, '/plants/batch', JSON.stringify({ plants }))
}
const seconds = await catchUp(server, entries)

const followers = number(flags.followers)
const following = await startFollowers(server, followers)
const took = await createAtRate(server.url, number(flags.rate), number(flags.seconds), entries)
await Bun.sleep(500)
const arrivals = await following.end()

await Bun.sleep(2000)
const before = memory(server.pid).resident
const idle = number(flags.idle)
const idling = await startFollowers(server, idle)
await Bun.sleep(5000)
const after = memory(server.pid).resident
await idling.end()
await server.stop()
removeFolder(folder)

const kilobytes = (after - before) / idle / 1000
const perSecond = (number(flags.rate) * number(flags.seconds)) / took
console.log(
  table(
    ['followers of the change log', 'figure'],
    [
      ['catching up, entries per second', String(Math.round(entries / seconds))],
      [`creates per second, to ${followers} followers`, perSecond.toFixed(0)],
      ['ms from a create to its arrival, median', arrivals.median.toFixed(1)],
      ['ms from a create to its arrival, p99', arrivals.p99.toFixed(1)],
      [`kB of each of ${idle} idle followers`, kilobytes.toFixed(1)],
    ],
  ),
)
writeResults('changes', {
  entries,
  catchUpPerSecond: entries / seconds,
  followers,
  createsPerSecond: perSecond,
  arrivals,
  idle,
  kilobytesPerIdle: kilobytes,
})
