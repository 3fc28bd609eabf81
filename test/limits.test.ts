// --rate-limit: how many requests a token may send, and how many failed tokens an address.
import { afterAll, describe, expect, setDefaultTimeout, test } from 'bun:test'
import { networkOf } from '../src/address'
import { openStore } from '../src/engine/open-store'
import { daemon as daemonRole } from '../src/engine/role'
import { PlantError } from '../src/errors'
import { createApp } from '../src/http/app'
import { createBuckets } from '../src/http/buckets'
import { createLog } from '../src/log'
import { createMetrics } from '../src/metrics'
import type { Store } from '../src/store'
import { issueToken } from '../src/token'
import {
  type Daemon,
  PATIENCE_MS,
  runProgram,
  startDaemon,
  temporaryFolder,
} from './harness/daemon'
import { expectError } from './harness/plants'

setDefaultTimeout(PATIENCE_MS)

const folder = temporaryFolder()
const log = createLog(() => {}, 'json', Date.now)
const store = await openStore(
  folder.file('plants.db'),
  daemonRole(log, () => {}),
)

afterAll(async () => {
  await store.close()
  folder[Symbol.dispose]()
})

/** The whole service but for the network: its clock stands still until it is set. */
function createService(rateLimit: number | null) {
  let lookups = 0
  const outage = { isOn: false }
  const clock = { now: Date.UTC(2030, 0, 1) }
  const counting: Store = new Proxy(store, {
    get(target, name) {
      if (name === 'findToken') lookups++
      if (outage.isOn) return () => Promise.reject(new PlantError(50302))
      const value = Reflect.get(target, name)
      return typeof value === 'function' ? value.bind(target) : value
    },
  })
  const metrics = createMetrics()
  const app = createApp({
    store: counting,
    metrics,
    log,
    now: () => clock.now,
    configuredToken: () => null,
    maxBodyBytes: 1000,
    logRequests: false,
    rateLimit,
    cors: null,
    loadPages: null,
    clientOf: (request) => request.headers.get('test-client') || null,
    isStopping: () => false,
  })
  return {
    clock,
    outage,
    lookups: () => lookups,
    metrics: () => metrics.render(store.stats()),
    send(token: string, { client = '203.0.113.7', path = '/plants', method = 'GET' } = {}) {
      const headers = { authorization: `Bearer ${token}`, 'test-client': client }
      return app.handle(new Request(`http://localhost${path}`, { method, headers }))
    },
  }
}

let issued = 0
async function makeToken(expiresIn: number | null = null) {
  const { text, token } = issueToken(`token-${++issued}`, 'read', expiresIn, Date.UTC(2030, 0, 1))
  await store.createToken(token)
  return { text, name: token.name }
}

const statusesOf = async (answers: readonly Promise<Response>[]) =>
  (await Promise.all(answers)).map(({ status }) => status)

const many = <T>(count: number, make: (index: number) => T): T[] =>
  Array.from({ length: count }, (_, index) => make(index))

describe('requests of a token', () => {
  test('are as many at once as in a second; the next are 42901', async () => {
    const { send, clock } = createService(3)
    const { text } = await makeToken()
    const left = ['"default";r=2;t=1', '"default";r=1;t=1', '"default";r=0;t=1']
    for (const limit of left) {
      const { status, headers } = await send(text)
      expect([status, headers.get('ratelimit')]).toEqual([200, limit])
      expect(headers.get('ratelimit-policy')).toBe('"default";q=3;w=1')
      expect(headers.has('retry-after')).toBeFalse()
    }
    const refused = await send(text)
    expect(refused.headers.get('retry-after')).toBe('1')
    expect(refused.headers.get('ratelimit')).toBe('"default";r=0;t=1')
    expect(refused.headers.get('ratelimit-policy')).toBe('"default";q=3;w=1')
    await expectError(refused, 42901)

    clock.now += 333
    expect((await send(text)).status).toBe(429)
    clock.now += 1
    expect(await statusesOf([send(text), send(text)])).toEqual([200, 429])
    clock.now += 60_000
    expect(await statusesOf(many(4, () => send(text)))).toEqual([200, 200, 200, 429])
  })

  test('are counted for each token, of every method, and of refusals too', async () => {
    const { send } = createService(2)
    const [one, other] = [await makeToken(), await makeToken()]

    expect((await send(one.text, { path: '/plants/404' })).status).toBe(404)
    expect((await send(one.text, { method: 'DELETE', path: '/plants/1' })).status).toBe(403)
    expect((await send(one.text)).status).toBe(429)
    expect((await send(other.text)).status).toBe(200)
  })

  test('do not count where they are no plants', async () => {
    const { send } = createService(1)
    const { text } = await makeToken()
    await send(text)

    for (const path of ['/metrics', '/health', '/openapi.json', '/metrics']) {
      const { status, headers } = await send(text, { path })
      expect([path, status, headers.get('ratelimit')]).toEqual([path, 200, null])
    }
  })

  test('have no limit by default', async () => {
    const { send } = createService(null)
    const { text } = await makeToken()
    const answers = await Promise.all(many(100, () => send(text)))

    expect(new Set(answers.map(({ status }) => status))).toEqual(new Set([200]))
    expect(answers.some(({ headers }) => headers.has('ratelimit'))).toBeFalse()
  })
})

describe('failed tokens', () => {
  const unknown = (index: number) => `pst_unknown_0123456789_${index}`

  test('are looked up ten times a second from one address, and counted', async () => {
    const { send, lookups, clock, metrics } = createService(1000)
    expect(await statusesOf(many(12, (index) => send(unknown(index))))).toEqual([
      ...many(10, () => 401),
      429,
      429,
    ])
    expect(lookups()).toBe(10)
    const refused = await send(unknown(13))
    expect(refused.headers.get('retry-after')).toBe('1')
    expect(refused.headers.has('ratelimit')).toBeFalse()
    expect(await expectError(refused, 42901)).toContain('from this address')
    expect((await send(unknown(14), { client: '203.0.113.8' })).status).toBe(401)
    clock.now += 100
    expect((await send(unknown(15))).status).toBe(401)
    expect((await send(unknown(16))).status).toBe(429)

    expect(metrics()).toContain('\nplantstore_credentials_failed_total 12\n')
    expect(metrics()).toContain('\nplantstore_credentials_unchecked_total 4\n')
  })

  test('count for a /64 of IPv6', async () => {
    const { send } = createService(1000)
    const from = (client: string) => send(unknown(1), { client })
    for (const index of many(10, (it) => it)) await from(`2001:db8::${index + 1}`)

    expect((await from('2001:db8:0:0:ffff::1')).status).toBe(429)
    expect((await from('2001:db8:0:1::1')).status).toBe(401)
  })

  test('do not hold up a token that was valid before', async () => {
    const { send } = createService(1000)
    const [before, fresh] = [await makeToken(), await makeToken()]
    expect((await send(before.text)).status).toBe(200)
    for (const index of many(20, (it) => it)) await send(unknown(index))

    expect((await send(before.text)).status).toBe(200)
    expect((await send(fresh.text)).status).toBe(429)
    expect((await send(fresh.text, { client: '198.51.100.1' })).status).toBe(200)
    expect((await send(fresh.text)).status).toBe(200)
  })

  test('are not those of valid tokens, however many come at once', async () => {
    const { send } = createService(1000)
    const { text } = await makeToken()
    expect(new Set(await statusesOf(many(50, () => send(text))))).toEqual(new Set([200]))
    for (let round = 0; round < 30; round++) {
      expect((await send((await makeToken()).text)).status).toBe(200)
    }
  })

  test('are revoked and expired ones too', async () => {
    const { send, clock } = createService(1000)
    const [revoked, expiring] = [await makeToken(), await makeToken(5000)]
    expect(await statusesOf([send(revoked.text), send(expiring.text)])).toEqual([200, 200])
    await store.revokeToken(revoked.name, clock.now)
    await Bun.sleep(1)
    clock.now += 5000
    for (const { text } of [revoked, expiring]) {
      const statuses = []
      for (let tries = 0; tries < 15; tries++) {
        statuses.push((await send(text)).status)
        // The requests of one turn of the event loop share a look into the store.
        await Bun.sleep(1)
      }
      expect(statuses.slice(0, 5)).toEqual(many(5, () => 401))
      expect(statuses.at(-1)).toBe(429)
      clock.now += 1000
    }
  })

  test('are not limited where a client has no address', async () => {
    const { send } = createService(1000)
    const sent = many(50, (index) => send(unknown(index), { client: '' }))

    expect(new Set(await statusesOf(sent))).toEqual(new Set([401]))
  })

  test('are none where the store cannot look them up', async () => {
    const { send, outage } = createService(1000)
    const { text } = await makeToken()
    outage.isOn = true
    for (const index of many(20, (it) => it)) expect((await send(unknown(index))).status).toBe(503)
    outage.isOn = false

    expect((await send(text)).status).toBe(200)
  })

  test('are not limited by default', async () => {
    const { send, metrics } = createService(null)
    const statuses = await statusesOf(many(50, (index) => send(unknown(index))))

    expect(new Set(statuses)).toEqual(new Set([401]))
    expect(metrics()).toContain('\nplantstore_credentials_failed_total 50\n')
  })
})

describe('buckets', () => {
  test('survive a clock that is set back', () => {
    const clock = { now: 1_000_000 }
    const buckets = createBuckets(2, () => clock.now)
    expect([buckets.take('a'), buckets.take('a'), buckets.take('a')]).toEqual([1, 0, -1])
    clock.now -= 500_000
    expect(buckets.take('a')).toBe(-1)
    clock.now += 500
    expect(buckets.take('a')).toBe(0)
  })

  test('forget the key that was used least lately', () => {
    const buckets = createBuckets(1, () => 0, 2)
    expect(['a', 'b', 'a', 'c', 'a', 'b'].map(buckets.take)).toEqual([0, 0, -1, 0, -1, 0])
  })

  test('never hold more than their burst', () => {
    const buckets = createBuckets(2, () => 0)
    buckets.take('a')
    for (let times = 0; times < 5; times++) buckets.giveBack('a')
    expect([buckets.take('a'), buckets.take('a'), buckets.take('a')]).toEqual([1, 0, -1])
  })
})

test.each([
  ['203.0.113.7', '203.0.113.7'],
  ['2001:db8::1', '2001:db8:0:0::/64'],
  ['2001:0DB8:0:0:1:2:3:4', '2001:db8:0:0::/64'],
  ['2001:db8:1:2::', '2001:db8:1:2::/64'],
  ['::1', '0:0:0:0::/64'],
  ['::', '0:0:0:0::/64'],
  ['fe80::1%eth0', 'fe80:0:0:0::/64'],
  ['64:ff9b::192.0.2.1', '64:ff9b:0:0::/64'],
  ['1:2:3:4:5:6:192.0.2.1', '1:2:3:4::/64'],
])('the network of %s is %s', (address, network) => {
  expect(networkOf(address)).toBe(network)
})

describe('a daemon', () => {
  const statusOf = async (daemon: Daemon, token: string, forwarded: string) => {
    const headers = { authorization: `Bearer ${token}`, 'x-forwarded-for': forwarded }
    return (await daemon.fetch('/plants', { headers })).status
  }

  test('limits the creates and reads of a token with --rate-limit', async () => {
    using own = temporaryFolder()
    const args = ['--rate-limit', '5']
    await using daemon = await startDaemon({ database: own.file('plants.db'), args })
    const started = performance.now()
    const answers = await Promise.all(
      many(60, (id) =>
        id % 2 ? daemon.create(`{"id":${id},"name":"Rose"}`) : daemon.fetch('/plants'),
      ),
    )
    const taken = answers.filter(({ status }) => status === 200)
    const refused = answers.filter(({ status }) => status === 429)
    // On a slow machine more of them are allowed.
    const allowed = 5 + (5 * (performance.now() - started)) / 1000 + 1

    expect(taken.length + refused.length).toBe(60)
    expect(taken.length).toBeGreaterThanOrEqual(5)
    expect(taken.length).toBeLessThanOrEqual(allowed)
    for (const { headers } of answers) {
      expect(headers.get('ratelimit')).toMatch(/^"default";r=\d;t=1$/)
      expect(headers.get('ratelimit-policy')).toBe('"default";q=5;w=1')
    }
    for (const answer of refused) expect(answer.headers.get('retry-after')).toBe('1')
    expect(await (await daemon.fetch('/metrics')).text()).toContain('status="429"')
  })

  test('limits the failed tokens of an address that a proxy names', async () => {
    using own = temporaryFolder()
    const database = own.file('plants.db')
    const args = ['--trusted-proxies', '127.0.0.1']
    const env = { PLANTSTORE_RATE_LIMIT: '1000' }
    await using daemon = await startDaemon({ database, args, env })
    const { out } = await runProgram(['token', 'create', 'mine', '--database', database])
    const mine = /pst_\S+/.exec(out)?.[0] ?? ''
    const sent = many(100, (index) => statusOf(daemon, `unknown_${index}_0123456789`, '192.0.2.1'))
    const statuses = await Promise.all(sent)

    expect(statuses.slice().sort()[0]).toBe(401)
    expect(statuses).toContain(429)
    expect(await statusOf(daemon, daemon.token, '192.0.2.1')).toBe(200)
    expect(await statusOf(daemon, mine, '192.0.2.2')).toBe(200)
  })

  test.each(['0', '-1', '1.5', '1000001', 'many'])('refuses --rate-limit %s', async (limit) => {
    const { err, code } = await runProgram(['serve', '--rate-limit', limit])

    expect(err).toContain('--rate-limit must be a whole number from 1 to 1000000')
    expect(code).toBe(2)
  })
})
