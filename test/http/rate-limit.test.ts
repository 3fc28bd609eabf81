// --rate-limit: how many requests a token may send.

import { expect, setDefaultTimeout, test } from 'bun:test'
import { createRateLimit } from '../../src/http/tokens/rate-limit'
import { createMetrics } from '../../src/metrics'
import { issueToken } from '../../src/token/token'
import { refusalOf } from '../harness/commands'
import { PATIENCE_MS, runProgram } from '../harness/daemon'
import { expectError } from '../harness/plants'
import { ownStore, serve } from '../harness/service'

setDefaultTimeout(PATIENCE_MS)

const store = ownStore()

/** The whole service: its clock stands still until it is set. */
function createService(rateLimit: number | null) {
  const clock = { now: Date.UTC(2030, 0, 1) }
  const metrics = createMetrics()
  const service = serve(store, { metrics, now: () => clock.now, rateLimit })
  return {
    clock,
    metrics: () => metrics.render(store.stats()),
    send: (token: string, { path = '/plants', method = 'GET' } = {}) =>
      service.fetch(path, { method, token }),
    [Symbol.asyncDispose]: service[Symbol.asyncDispose],
  }
}

let issued = 0
async function makeToken(expiresIn: number | null = null) {
  const { text, token } = issueToken(`token-${++issued}`, 'read', expiresIn, Date.UTC(2030, 0, 1))
  await store.createToken(token)
  return { text, name: token.name }
}

// They come by several connections, so that the server may get them in any order.
const statusesOf = async (responses: readonly Promise<Response>[]) =>
  (await Promise.all(responses)).map(({ status }) => status).sort()

const many = <T>(count: number, make: (index: number) => T): T[] =>
  Array.from({ length: count }, (_, index) => make(index))

test('requests of a token may come at once, as many as in a second; the next get 42901', async () => {
  await using service = createService(3)
  const { send, clock } = service
  const { text } = await makeToken()
  for (const expected of [200, 200, 200]) {
    const { status, headers } = await send(text)
    expect(status).toBe(expected)
    expect(headers.has('retry-after')).toBeFalse()
  }
  const refused = await send(text)
  expect(refused.headers.get('retry-after')).toBe('1')
  await expectError(refused, 42901)

  clock.now += 333
  expect((await send(text)).status).toBe(429)
  clock.now += 1
  expect(await statusesOf([send(text), send(text)])).toEqual([200, 429])
  clock.now += 60_000
  expect(await statusesOf(many(4, () => send(text)))).toEqual([200, 200, 200, 429])
})

test('requests of a token are counted for each token, of every method, and of refusals too', async () => {
  await using service = createService(2)
  const { send } = service
  const [one, other] = [await makeToken(), await makeToken()]

  expect((await send(one.text, { path: '/plants/404' })).status).toBe(404)
  expect((await send(one.text, { method: 'DELETE', path: '/plants/1' })).status).toBe(403)
  expect((await send(one.text)).status).toBe(429)
  expect((await send(other.text)).status).toBe(200)
})

test('requests of a token do not count unless they are for plants', async () => {
  await using service = createService(1)
  const { send } = service
  const { text } = await makeToken()
  await send(text)

  for (const path of ['/metrics', '/health', '/openapi.json', '/metrics']) {
    expect([path, (await send(text, { path })).status]).toEqual([path, 200])
  }
})

test('requests of a token do not count once the token has ended', async () => {
  await using service = createService(2)
  const { send, clock } = service
  const { text } = await makeToken(1000)
  expect((await send(text)).status).toBe(200)
  clock.now += 1000

  expect(await statusesOf(many(5, () => send(text)))).toEqual([401, 401, 401, 401, 401])
})

test('failed tokens have no limit, and are counted', async () => {
  await using service = createService(1)
  const { send, metrics } = service
  const unknown = many(50, (index) => `pst_unknown_0123456789_${index}`)

  expect(new Set(await statusesOf(unknown.map((token) => send(token))))).toEqual(new Set([401]))
  expect(metrics()).toContain('{method="GET",route="/plants",status="401"} 50\n')
})

/** Whether a request is allowed, by the hash of its token. */
const allowing = (...args: Parameters<typeof createRateLimit>) => {
  const spend = createRateLimit(...args)
  return (hash: string) => {
    try {
      spend({ hash })
      return true
    } catch {
      return false
    }
  }
}

test('buckets survive a clock that is set back', () => {
  const clock = { now: 1_000_000 }
  const take = allowing(2, () => clock.now)
  expect(['a', 'a', 'a'].map(take)).toEqual([true, true, false])
  clock.now -= 500_000
  expect(take('a')).toBeFalse()
  clock.now += 500
  expect(['a', 'a'].map(take)).toEqual([true, false])
})

test.each(['0', '1.5', '1000001', 'many'])('a daemon refuses --rate-limit %s', async (limit) => {
  expect(refusalOf(await runProgram(['serve', '--rate-limit', limit]), 2)).toContain(
    '--rate-limit must be a whole number from 1 to 1000000',
  )
})
