// Following the change log with the client: over kills, cut connections and a log that begins anew.
import { expect, test } from 'bun:test'
import { copyFileSync } from 'node:fs'
import {
  type Change,
  ClientError,
  createClient,
  type Followed,
  type NewPlant,
  type Plant,
} from '../../../src/client/client'
import { IDS } from '../../client/scenario'
import { type Daemon, startDaemon, TOKEN } from '../../harness/daemon'
import { own } from '../../harness/own'
import { ownDaemon } from '../../harness/own-daemon'
import { until } from '../../harness/until'

const KEEP = ['--keep-changes', '1d']
const { daemon, folder } = ownDaemon({ args: KEEP })
const client = own(() => createClient({ url: daemon.url, token: TOKEN }))

/** A copy that is kept by `follow`, until it is stopped. */
function keepCopy(followed: (signal: AbortSignal) => AsyncIterable<Followed>) {
  const stop = new AbortController()
  const plants = new Map<bigint, Plant>()
  let resets = 0
  const ended = (async () => {
    for await (const event of followed(stop.signal)) {
      if (event.action === 'reset') {
        plants.clear()
        resets++
      } else if (event.after) plants.set(event.id, event.after)
      else plants.delete(event.id)
    }
  })()
  const sorted = (): NewPlant[] =>
    [...plants]
      .map(([id, plant]) => ({ id, ...plant }))
      .sort((a, b) => (a.id < b.id ? -1 : Number(a.id > b.id)))
  const end = async () => {
    stop.abort()
    await ended
  }
  return { sorted, resets: () => resets, end }
}

const allOf = (of = client) => Array.fromAsync(of.plants())
const isSame = async (copy: ReturnType<typeof keepCopy>, of = client) =>
  Bun.deepEquals(copy.sorted(), await allOf(of))

test('the client reads changes from either end and the history of a plant, with exact ids', async () => {
  const start = await client.listChanges({ after: 'now' })
  if (!start.ok) throw new Error(start.message)
  const after = start.value.next
  for (const id of IDS) await client.createPlant({ id, name: 'a', tag: '"id":1' })
  await client.replacePlant({ id: IDS[0] ?? 0n, name: 'b' })

  const page = await client.listChanges({ after, limit: 1000 })
  const history = await client.history(IDS[0] ?? 0n, { limit: 1 })
  const newest = await client.listHistory({ limit: 3 })
  const loop: Change[] = []
  for await (const change of client.changes({ after })) {
    loop.push(change)
    if (loop.length > IDS.length) break
  }

  expect(page.ok && page.value.changes).toEqual(loop)
  expect(loop.map(({ id }) => id)).toEqual([...IDS, IDS[0] ?? 0n])
  expect(history.ok && history.value.changes).toEqual(loop.slice(-1))
  expect(newest.ok && newest.value.changes).toEqual(loop.slice(-3).reverse())
  expect(newest.ok && newest.value.next).toBe(loop.at(-3)?.cursor ?? '')
  expect(history.ok && history.value.next).toBe(loop.at(-1)?.cursor ?? '')
})

test('a copy is exact through kills of the daemon and changes that go on', async () => {
  const database = folder.file('killed.db')
  let killed: Daemon = await startDaemon({ args: KEEP, database })
  const { port } = killed
  const other = createClient({ url: killed.url, token: TOKEN, retries: 0 })
  await other.createPlants(
    Array.from({ length: 1000 }, (_, index) => ({ id: BigInt(index), name: 'first' })),
  )
  const copy = keepCopy((signal) => other.follow({ signal }))

  let isWriting = true
  const writing = (async () => {
    for (let turn = 0; isWriting; turn++) {
      const id = BigInt(turn % 1100)
      if (turn % 3 === 0) await other.deletePlant(id)
      else if (turn % 3 === 1) await other.replacePlant({ id, name: `turn ${turn}` })
      else await other.createPlant({ id, name: `turn ${turn}`, tag: 't' })
    }
  })()
  for (let kills = 0; kills < 3; kills++) {
    await Bun.sleep(300)
    await killed.kill()
    killed = await startDaemon({ args: [...KEEP, '--port', String(port)], database })
  }
  await Bun.sleep(300)
  isWriting = false
  await writing

  await until('the same plants in the copy', () => isSame(copy, other))
  expect(copy.resets()).toBe(1)
  expect(copy.sorted().length).toBeGreaterThan(300)
  await copy.end()
  await killed.kill()
})

test('a copy has the changes of pages that were listed before', async () => {
  const ids = Array.from({ length: 1000 }, (_, index) => BigInt(50_000 + index))
  await client.createPlants(ids.map((id) => ({ id, name: 'first' })))
  let pages = 0
  const slow = createClient({
    url: daemon.url,
    token: TOKEN,
    async fetch(to, init) {
      if (to.includes('/plants?') && ++pages === 2) {
        await client.replacePlant({ id: IDS[0] ?? 0n, name: 'changed meanwhile' })
        await client.deletePlant(IDS[1] ?? 0n)
      }
      return fetch(to, init)
    },
  })
  const copy = keepCopy((signal) => slow.follow({ signal }))

  await until('the same plants in the copy', () => isSame(copy))
  expect(pages).toBe(2)
  expect(copy.sorted()[0]).toEqual({ id: IDS[0] ?? 0n, name: 'changed meanwhile' })
  await copy.end()
})

test('a copy begins again when an older file takes the place of the database', async () => {
  const database = folder.file('copied.db')
  const first = await startDaemon({ args: KEEP, database })
  const { port } = first
  const restart = () => startDaemon({ args: [...KEEP, '--port', String(port)], database })
  const other = createClient({ url: first.url, token: TOKEN })
  await other.createPlant({ id: 1n, name: 'a' })
  await first.stop()
  copyFileSync(database, `${database}.older`)
  const second = await restart()
  const copy = keepCopy((signal) => other.follow({ signal }))
  await other.createPlant({ id: 2n, name: 'b' })
  await until('the copy to be exact', () => isSame(copy, other))

  await second.stop()
  copyFileSync(`${database}.older`, database)
  // Before the copy can connect again.
  const unseen = await startDaemon({ args: KEEP, database })
  const writer = createClient({ url: unseen.url, token: TOKEN })
  await writer.createPlants([3n, 4n, 5n].map((id) => ({ id, name: 'c' })))
  await unseen.stop()
  const third = await restart()

  await until('the copy to be exact', () => isSame(copy, other))
  expect(copy.sorted().map(({ id }) => id)).toEqual([1n, 3n, 4n, 5n])
  expect(copy.resets()).toBe(2)
  await copy.end()
  await third.kill()
})

const EVENTS = { headers: { 'content-type': 'text/event-stream' } }

test('a loop resumes after a lost connection, even in the middle of an event', async () => {
  let cuts = 0
  // Passes on so many bytes of an answer, then cuts it.
  await using proxy = Bun.serve({
    port: 0,
    hostname: '127.0.0.1',
    async fetch(request) {
      const { pathname, search } = new URL(request.url)
      const answer = await fetch(`${daemon.url}${pathname}${search}`, { headers: request.headers })
      let left = 900
      const cut = new TransformStream<Uint8Array, Uint8Array>({
        transform(bytes, controller) {
          controller.enqueue(bytes.slice(0, left))
          left -= bytes.length
          if (left > 0) return
          cuts++
          controller.terminate()
        },
      })
      return new Response(answer.body?.pipeThrough(cut), answer)
    },
  })
  const far = createClient({ url: proxy.url, token: TOKEN })
  const start = await client.listChanges({ after: 'now' })
  if (!start.ok) throw new Error(start.message)
  const ids = Array.from({ length: 12 }, (_, index) => BigInt(5000 + index))
  await client.createPlants(ids.map((id) => ({ id, name: 'ä'.repeat(20) })))

  const found: bigint[] = []
  for await (const { id } of far.changes({ after: start.value.next })) {
    found.push(id)
    if (found.length === ids.length) break
  }

  expect(found).toEqual(ids)
  expect(cuts).toBeGreaterThan(2)
})

test.each([
  [
    '503 and Retry-After: 0',
    () => new Response('', { status: 503, headers: { 'retry-after': '0' } }),
  ],
  [
    '503 and a year',
    () => new Response('', { status: 503, headers: { 'retry-after': '31536000' } }),
  ],
  ['a stream that ends at once', () => new Response('retry: 1500\n\n', EVENTS)],
  ['half an event of JSON', () => new Response('id: a-1\ndata: {"cursor":\n\n', EVENTS)],
])('the pauses of a loop grow, and end, after %s', async (_, answer) => {
  let requests = 0
  await using server = Bun.serve({
    port: 0,
    hostname: '127.0.0.1',
    fetch() {
      requests++
      return answer()
    },
  })
  const signal = AbortSignal.timeout(1500)
  const found = Array.fromAsync(createClient({ url: server.url, token: TOKEN }).changes({ signal }))

  expect(await found).toEqual([])
  expect(requests).toBeGreaterThan(0)
  expect(requests).toBeLessThan(8)
})

test('a loop ends when it is aborted, and throws for what no retry cures', async () => {
  const stop = new AbortController()
  const waiting = Array.fromAsync(client.changes({ after: 'now', signal: stop.signal }))
  await Bun.sleep(100)
  stop.abort()
  expect(await waiting).toEqual([])

  const failure = (loop: AsyncIterable<unknown>) =>
    Array.fromAsync(loop).then(
      () => null,
      (error: unknown) => (error instanceof ClientError ? error.failure.error : error),
    )
  expect(await failure(client.changes({ after: 'x' }))).toBe(40002)
  expect(await failure(createClient({ url: daemon.url, token: 'pst_unknown' }).follow())).toBe(
    40102,
  )
})
