// The streams of followers over a real store, without the network: how often the change log is read, and their limit.
import { beforeAll, expect, setDefaultTimeout, spyOn, test } from 'bun:test'
import type { ChangeLog } from '../../src/change-log/change-log'
import { createByteBudget } from '../../src/http/byte-budget'
import { Followers, type FollowersDeps } from '../../src/http/feed/followers'
import { RequestError } from '../../src/request-errors'
import type { Store } from '../../src/store'
import { issueToken } from '../../src/token/token'
import { PATIENCE_MS } from '../harness/daemon'
import { readEvents, take } from '../harness/events'
import { aroundTests, own } from '../harness/own'
import { depsOf, ownStore } from '../harness/service'
import { until } from '../harness/until'

setDefaultTimeout(PATIENCE_MS)
const store = ownStore()
const { token } = issueToken('reader', 'read', null, Date.now())
beforeAll(() => store.createToken(token))
const stop = new AbortController()
aroundTests(
  () => {},
  () => stop.abort(),
)

let reads = 0
const changeLog = own((): ChangeLog => {
  const { changeLog: kept } = store
  if (!kept) throw new Error('no change log is kept')
  return {
    ...kept,
    read(options) {
      reads++
      return kept.read(options)
    },
  }
})

const create = (deps: Partial<FollowersDeps> = {}) =>
  new Followers({
    ...depsOf({ ...store, changeLog }),
    budget: createByteBudget(0),
    stopping: stop.signal,
    ...deps,
  })

const URL_OF_CHANGES = 'http://localhost/plants/changes'

const open = async (followers: ReturnType<typeof create>) => {
  const request = new Request(URL_OF_CHANGES)
  const events = readEvents(await followers.follow(changeLog, 'now', request, token))
  await events.next()
  return events
}

test('a commit costs a follower few reads', async () => {
  const followers = create()
  const events = await open(followers)
  await until('the first poll', async () => {
    reads = 0
    await Bun.sleep(600)
    return reads === 0
  })
  await store.createPlant({ id: 900n, name: 'a' })
  await take(events, 1)
  await Bun.sleep(700)

  // Once for the change, once for what may come after it; once for the poll that finds it, and once for a tick.
  expect(reads).toBeWithin(2, 5)
  await events.return()
})

test('a change is read once, however many follow', async () => {
  const followers = create()
  const all = await Promise.all(Array.from({ length: 50 }, () => open(followers)))
  await Bun.sleep(100)
  reads = 0
  await store.createPlant({ id: 1n, name: 'a' })
  const found = await Promise.all(all.map((events) => take(events, 1)))
  await Bun.sleep(100)

  expect(new Set(found.map(([event]) => event?.id)).size).toBe(1)
  // Once for the change, once for what may come after it; a look at the change log may wake all of them once more.
  expect(reads).toBeLessThanOrEqual(4)
  await Promise.all(all.map((events) => events.return()))
})

const MAX_FOLLOWERS = 10_000
/** A change log that is quick to read: many may follow it. */
const quickLog = own((): ChangeLog => {
  const { history, watch, stats } = changeLog
  return { history, watch, stats, read: async () => ({ entries: [], next: '0000000000000000-1' }) }
})

const followQuickly = (followers: ReturnType<typeof create>) =>
  followers.follow(quickLog, 'now', new Request(URL_OF_CHANGES), token)

test('of simultaneous clients, no more than the limit are served', async () => {
  const followers = create()
  const all = await Promise.allSettled(
    Array.from({ length: MAX_FOLLOWERS + 10 }, () => followQuickly(followers)),
  )
  const letIn = all.flatMap((result) => (result.status === 'fulfilled' ? [result.value] : []))

  expect(letIn).toHaveLength(MAX_FOLLOWERS)
  expect(followers.count()).toBe(MAX_FOLLOWERS)
  await Promise.all(letIn.map(({ body }) => body?.cancel()))
  expect(followers.count()).toBe(0)
})

test('a client that is refused, or has gone before its response, is not counted', async () => {
  const followers = create()
  const refusal = await followers
    .follow(changeLog, 'junk', new Request(URL_OF_CHANGES), token)
    .catch((error) => error)
  await followers.follow(changeLog, 'now', new Request(URL_OF_CHANGES, { method: 'HEAD' }), token)
  const gone = new Request(URL_OF_CHANGES, { signal: AbortSignal.abort() })
  // Refused, if it has to wait for its turn.
  await followers.follow(changeLog, 'now', gone, token).catch(() => {})
  const unread = await followers.follow(changeLog, 'now', new Request(URL_OF_CHANGES), token)
  await unread.body?.cancel()

  expect(refusal).toBeInstanceOf(RequestError)
  expect(followers.count()).toBe(0)
})

test('the daemon reads nothing for clients that disconnect before their first page, and does not count them', async () => {
  const busy: ChangeLog = {
    history: changeLog.history,
    watch: changeLog.watch,
    stats: changeLog.stats,
    read(options) {
      const page = changeLog.read(options)
      // The reads of a turn of the event loop take 4 ms at most: the others wait.
      Bun.sleepSync(1)
      return page
    },
  }
  const followers = create()
  const client = new AbortController()
  const request = new Request(URL_OF_CHANGES, { signal: client.signal })
  const all = Array.from({ length: 20 }, () => followers.follow(busy, 'now', request, token))
  client.abort()
  const refused = (await Promise.allSettled(all)).filter(({ status }) => status === 'rejected')

  expect(refused.length).toBeGreaterThan(10)
  expect(followers.count()).toBe(0)
})

test('a follower that arrives during a stop gets its page, and its stream ends', async () => {
  const stopping = AbortSignal.abort()
  const followers = create({ stopping })
  const request = new Request(URL_OF_CHANGES)
  const response = await followers.follow(changeLog, 'now', request, token)

  const text = await Promise.race([response.text(), Bun.sleep(2000).then(() => 'still open')])
  expect(text).not.toBe('still open')
  expect(followers.count()).toBe(0)
})

test('a client beyond the limit is refused with 50301, until another has gone', async () => {
  const followers = create()
  const first = await open(followers)
  const others = await Promise.all(
    Array.from({ length: MAX_FOLLOWERS - 1 }, () => followQuickly(followers)),
  )

  const refusal = await open(followers).catch((error) => error)
  expect(refusal).toBeInstanceOf(RequestError)
  expect(refusal.error).toBe('busy')

  await first.return()
  await Bun.sleep(50)
  const last = await open(followers)
  await store.createPlant({ id: 2n, name: 'a' })
  expect(await take(last, 1)).toHaveLength(1)
  await Promise.all([last.return(), ...others.map(({ body }) => body?.cancel())])
})

test('a follower that reads nothing is disconnected, and so is one whose stream has ended', async () => {
  const seconds: number[] = []
  let known: typeof token | null = token
  const followers = create({
    timeOut: (_, limit) => seconds.push(limit),
    store: { ...store, findToken: async () => known, changeLog },
  })
  const events = await open(followers)
  known = null

  expect((await events.next()).done).toBeTrue()
  expect(seconds).toEqual([20])
})

test('a client that is far behind catches up beside one that is not, without a new change', async () => {
  const followers = create()
  const idle = await open(followers)
  const { next: start } = await changeLog.read({ after: 'now', limit: 0 })
  const plants = Array.from({ length: 1001 }, (_, id) => ({ id: BigInt(2000 + id), name: 'a' }))
  await store.createPlants(plants)
  await take(idle, 1001)
  // The poll has found them too.
  await Bun.sleep(700)

  const request = new Request(URL_OF_CHANGES)
  const events = readEvents(await followers.follow(changeLog, start, request, token))
  await events.next()
  const found = await Promise.race([take(events, 1001), Bun.sleep(5000).then(() => [])])
  expect(found).toHaveLength(1001)
  await Promise.all([idle, events].map((each) => each.return()))
})

test('a token that was revoked is sent nothing more, even a change of the same moment', async () => {
  let known: typeof token | null = token
  const followers = create({ store: { ...store, findToken: async () => known, changeLog } })
  const events = await open(followers)
  await store.createPlant({ id: 901n, name: 'a' })
  expect((await take(events, 1))[0]?.change.id).toBe(901)
  known = null
  await store.createPlant({ id: 902n, name: 'a' })

  expect(await events.next()).toMatchObject({ done: true })
})

test.each([
  [
    'has a comment from time to time',
    (...sent: Parameters<Store['findToken']>) => store.findToken(...sent),
  ],
  ['has a comment even while the store does not answer', () => new Promise<null>(() => {})],
])('an idle stream %s', async (_, findToken) => {
  const followers = create({ store: { ...store, findToken, changeLog } })
  let now = 0
  const clock = spyOn(performance, 'now').mockImplementation(() => (now += 9000))
  const request = new Request(URL_OF_CHANGES)
  const stream = await followers.follow(changeLog, 'now', request, token)
  let text = ''
  for await (const bytes of stream.body ?? []) {
    text += Buffer.from(bytes).toString()
    if (text.endsWith('\n\n:\n\n:\n\n')) break
  }
  clock.mockRestore()

  expect(text).toMatch(/^retry: \d+\nid: \S+\n\n:\n\n:\n\n$/)
})

test('a stream ends if unread responses leave no room for its events', async () => {
  const budget = createByteBudget(0)
  const events = await open(create({ budget }))
  using _ = budget.hold(64 * 1024 * 1024)
  await store.createPlant({ id: 903n, name: 'a'.repeat(5000) })

  expect((await events.next()).done).toBeTrue()
})
