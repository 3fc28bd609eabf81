// Tests when the client retries a request, and how it interprets the response.
import { expect, spyOn, test } from 'bun:test'
import { type ClientOptions, createClient, type Fetch } from '../../src/client/client'
import { startDaemon, TOKEN } from '../harness/daemon'
import { ownDaemon } from '../harness/own-daemon'

const { daemon, folder, stored } = ownDaemon()

type Fault = (forward: () => Promise<Response>) => Promise<Response>

/** Carries out a request, and loses its response. */
const loseAnswer: Fault = async (forward) => {
  await forward()
  throw new TypeError('the connection was cut')
}
const loseRequest: Fault = () => Promise.reject(new TypeError('no connection'))

const refuse =
  (error: number, headers: Record<string, string> = {}): Fault =>
  async () =>
    Response.json(
      { error, message: 'as the test says' },
      { status: Math.floor(error / 100), headers },
    )

/** Creates a client of the daemon whose first requests meet these faults, in turn. */
function faulty(faults: readonly Fault[], options: Partial<ClientOptions> = {}) {
  const sent: string[] = []
  const send: Fetch = (to, init) => {
    const fault = faults[sent.length]
    sent.push(init.method ?? '')
    const forward = () => fetch(to, init)
    return fault ? fault(forward) : forward()
  }
  return { sent, client: createClient({ url: daemon.url, token: TOKEN, fetch: send, ...options }) }
}

test('the client waits as long as a rate limit requires', async () => {
  const database = folder.file('limited.db')
  await using limited = await startDaemon({ database, args: ['--rate-limit', '4'] })
  const client = createClient({ url: limited.url, token: limited.token })

  const found = await Promise.all(Array.from({ length: 8 }, () => client.readPlant(1n)))

  expect(found.map((result) => result.ok || result.error)).toEqual(Array(8).fill(40402))
  const hasty = createClient({ url: limited.url, token: limited.token, retries: 0 })
  const refused = await Promise.all(Array.from({ length: 8 }, () => hasty.readPlant(1n)))
  expect(refused).toContainEqual(expect.objectContaining({ error: 42901, retryAfter: 1 }))
})

test('the client retries every operation that a busy daemon refused', async () => {
  const busy = [refuse(50301, { 'retry-after': '0' })]
  const created = faulty(busy)
  expect(await created.client.createPlant({ id: 1n, name: 'a' })).toMatchObject({ ok: true })
  expect(await faulty(busy).client.replacePlant({ id: 1n, name: 'b' })).toMatchObject({ ok: true })
  expect(await faulty(busy).client.listPlants()).toMatchObject({ ok: true })
  const deleted = faulty(busy)
  expect(await deleted.client.deletePlant(1n)).toMatchObject({ ok: true })

  expect([created.sent, deleted.sent]).toEqual([
    ['POST', 'POST'],
    ['DELETE', 'DELETE'],
  ])
})

test('the client gives up after some retries, or if the wait would be too long', async () => {
  const busy = faulty(Array(9).fill(refuse(50301, { 'retry-after': '0' })), { retries: 4 })
  const long = faulty([refuse(50301, { 'retry-after': '3600' })])
  const full = faulty([refuse(50701)])

  expect(await busy.client.readPlant(1n)).toMatchObject({ error: 50301, status: 503 })
  expect(busy.sent).toHaveLength(5)
  expect(await long.client.readPlant(1n)).toMatchObject({ error: 50301, retryAfter: 3600 })
  expect(long.sent).toHaveLength(1)
  expect(await full.client.readPlant(1n)).toMatchObject({ error: 50701 })
  expect(full.sent).toHaveLength(1)
})

test('the client retries as often as allowed, with pauses of up to 30 seconds', async () => {
  const { setTimeout } = globalThis
  const pauses: unknown[] = []
  const clock = spyOn(globalThis, 'setTimeout').mockImplementation(((end: () => void, ms = 0) => {
    pauses.push(ms)
    return setTimeout(end)
  }) as typeof setTimeout)
  const { client, sent } = faulty(Array(9).fill(loseRequest), { retries: 9 })
  const found = await client.readPlant(1n).finally(() => clock.mockRestore())

  expect(found).toMatchObject({ error: 40402 })
  expect(sent).toHaveLength(10)
  const longest = [250, 500, 1000, 2000, 4000, 8000, 16_000, 30_000, 30_000]
  expect(pauses).toHaveLength(longest.length)
  for (const [index, most] of longest.entries()) {
    expect(pauses[index]).toBeWithin(most / 2, most + 1)
  }
})

test('the client understands a Retry-After that is a date, and a missing one', async () => {
  const date = (seconds: number) => new Date(Date.now() + seconds * 1000).toUTCString()
  const soon = faulty([refuse(42901, { 'retry-after': date(-5) })])
  const none = faulty([refuse(42901)])
  const later = faulty([refuse(42901, { 'retry-after': date(7200) })])

  expect(await soon.client.readPlant(1n)).toMatchObject({ error: 40402 })
  expect(await none.client.readPlant(1n)).toMatchObject({ error: 40402 })
  const result = await later.client.readPlant(1n)
  expect(result.ok || (result.retryAfter ?? 0)).toBeWithin(7000, 7201)
})

test('an aborted signal ends the wait for a retry', async () => {
  const { client, sent } = faulty([refuse(50301, { 'retry-after': '25' })])
  const started = performance.now()

  const result = await client.readPlant(1n, { signal: AbortSignal.timeout(50) })

  expect(result).toMatchObject({ error: 0, cause: { name: 'TimeoutError' } })
  expect(sent).toHaveLength(1)
  expect(performance.now() - started).toBeLessThan(20_000)
})

test('the client recognizes that a create whose response was lost was stored', async () => {
  const lost = faulty([loseAnswer])
  const unsent = faulty([loseRequest, loseRequest])

  const value = { name: 'a', tag: 't' }
  expect(await lost.client.createPlant({ id: 11n, ...value })).toEqual({ ok: true, value })
  expect(await unsent.client.createPlant({ id: 12n, ...value })).toEqual({ ok: true, value })
  const untagged = await faulty([loseAnswer]).client.createPlant({ id: 13n, name: 'a' })
  expect(untagged).toStrictEqual({ ok: true, value: { name: 'a' } })
  expect([lost.sent.length, unsent.sent.length]).toEqual([2, 3])
  expect(stored(11n)).toEqual({ id: 11n, ...value })
  // But not if no response was lost, or the id belongs to another plant.
  expect(await faulty([]).client.createPlant({ id: 11n, ...value })).toMatchObject({ error: 40901 })
  const other = faulty([loseRequest])
  expect(await other.client.createPlant({ id: 11n, name: 'b' })).toMatchObject({ error: 40902 })
})

test('a create that may have been stored is not reported as refused', async () => {
  const { client } = faulty([loseAnswer, refuse(40102)])

  expect(await client.createPlant({ id: 21n, name: 'a' })).toMatchObject({ error: 0, status: 0 })
  expect(stored(21n)).toBeDefined()
})

test('the client retries no other change whose response was lost', async () => {
  await faulty([]).client.createPlant({ id: 31n, name: 'a' })
  const replaced = faulty([loseAnswer])
  const batch = faulty([loseAnswer])
  const deleted = faulty([loseAnswer])

  expect(await replaced.client.replacePlant({ id: 31n, name: 'b' })).toMatchObject({ error: 0 })
  expect(await batch.client.createPlants([{ id: 32n, name: 'c' }])).toMatchObject({ error: 0 })
  expect(await deleted.client.deletePlant(31n)).toMatchObject({ error: 0 })
  expect([...replaced.sent, ...batch.sent, ...deleted.sent]).toEqual(['PUT', 'POST', 'DELETE'])
})

test("the client retries a read, even after a proxy's error", async () => {
  await faulty([]).client.createPlant({ id: 41n, name: 'a' })
  const gateway: Fault = async () => new Response('<h1>Bad gateway</h1>', { status: 502 })
  const { client, sent } = faulty([loseAnswer, gateway])

  expect(await client.readPlant(41n)).toMatchObject({ ok: true, value: { id: 41n, name: 'a' } })
  expect(sent).toHaveLength(3)
})

test('the client finds the plants of a batch whose response was lost', async () => {
  const { client } = faulty([loseAnswer])
  const plants = Array.from({ length: 25 }, (_, index) => ({ id: 500n + BigInt(index), name: 'a' }))

  const outcomes = await Array.fromAsync(client.createAll(plants))

  expect(outcomes).toEqual([{ created: 0, known: 25, refused: [] }])
  expect(stored(524n)).toBeDefined()
})
