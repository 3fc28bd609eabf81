// The service over a store that fails, waits or does not know.
import { expect, setDefaultTimeout, test } from 'bun:test'
import { InDoubtError, RequestError } from '../../src/request-errors'
import { PATIENCE_MS } from '../harness/daemon'
import { expectError } from '../harness/plants'
import { serveFake } from '../harness/service'
import { until } from '../harness/until'

setDefaultTimeout(PATIENCE_MS)

const CREATE = { method: 'POST', body: '{"id":1,"name":"Rose"}' }
const ok = async () => 'ok' as const

test('the service is healthy while creates wait', async () => {
  const waiting = Promise.withResolvers<void>()
  await using service = serveFake({ createPlant: () => waiting.promise, probe: ok })
  const create = service.fetch('/plants', CREATE)

  const response = await service.fetch('/health')

  expect([response.status, await response.text()]).toEqual([200, '{"status":"ok"}'])
  waiting.resolve()
  expect((await create).status).toBe(200)
})

test('the service is healthy while the queue refuses creates with Retry-After', async () => {
  const createPlant = () => Promise.reject(new RequestError('busy'))
  await using service = serveFake({ createPlant, probe: ok })
  const refused = await service.fetch('/plants', CREATE)

  expect(refused.headers.get('retry-after')).toBe('1')
  await expectError(refused, 50301)
  expect((await service.fetch('/health')).status).toBe(200)
})

test.each([
  ['full', new RequestError('disk full'), 50701, 'disk full; nothing was stored'],
  ['moved', new RequestError('storage failed', 'it was moved'), 50302, 'it was moved'],
  ['broken', new Error('/secret/path'), 50001, 'unexpected error; the server log has the details'],
] as const)(
  'a create and GET /health fail while the store is %s',
  async (_, reason, error, message) => {
    const fail = () => Promise.reject(reason)
    await using service = serveFake({ createPlant: fail, probe: fail })

    expect(await expectError(await service.fetch('/plants', CREATE), error)).toBe(message)
    const health = await expectError(await service.fetch('/health'), 50302)
    expect(health).toBe(
      error === 50001 ? 'cannot write to the database; nothing was stored' : message,
    )
  },
)

test('a create that may or may not be stored closes its connection without a response', async () => {
  const logged: string[] = []
  await using service = serveFake(
    { createPlant: () => Promise.reject(new InDoubtError('the row of this daemon is gone')) },
    { log: (_, event) => logged.push(event) },
  )

  await expect(service.fetch('/plants', CREATE)).rejects.toThrow()
  expect(logged).toEqual([])
})

test('the store learns that the client of a list has disconnected', async () => {
  let signal: AbortSignal | undefined
  const held = Promise.withResolvers<{ plants: []; next: null }>()
  const listPlants = (_: unknown, sent?: AbortSignal) => {
    signal = sent
    return held.promise
  }
  await using service = serveFake({ listPlants })
  const client = new AbortController()
  const listing = service.fetch('/plants', { signal: client.signal })
  await until('the list', () => signal !== undefined)
  expect(signal?.aborted).toBeFalse()

  client.abort()

  await expect(listing).rejects.toThrow()
  await until('the signal', () => signal?.aborted === true, 5000)
  held.resolve({ plants: [], next: null })
})

test('a page is read again after a failure', async () => {
  const path = `/tmp/plantstore-${crypto.randomUUID()}.gz`
  const file = { page: 'console', name: 'index.html', type: 'text/html', hash: 'a' }
  const loadPages = async () => [{ ...file, brotli: path, gzip: path }]
  await using service = serveFake({}, { loadPages })
  const read = () => fetch(service.url, { headers: { 'accept-encoding': 'gzip' } })

  await expectError(await read(), 50001)
  await Bun.write(path, Bun.gzipSync('<p>'))
  expect(await (await read()).text()).toBe('<p>')
  await Bun.file(path).delete()
})

const STATS = { queuedWrites: 0, databaseBytes: null, walBytes: null, freeBytes: null }

test('GET /status rounds the lag of a replica to milliseconds', async () => {
  const replica = { lagSeconds: 1.2345678, lagBytes: 3 }
  const stats = () => ({ ...STATS, problem: null, replica })
  await using service = serveFake({ stats, countPlants: async () => 1 })

  expect<unknown>(await (await service.fetch('/status')).json()).toMatchObject({
    readOnly: true,
    replica: { lagSeconds: 1.235, lagBytes: 3 },
  })
})

test('GET /status responds in an outage, with the reason', async () => {
  const problem = new RequestError('disk full')
  await using service = serveFake({
    stats: () => ({ ...STATS, problem, isDamaged: true }),
    countPlants: () => Promise.reject(new RequestError('storage failed')),
  })

  expect<unknown>(await (await service.fetch('/status')).json()).toMatchObject({
    plants: null,
    writable: false,
    problem: { name: 'disk full', message: 'disk full; nothing was stored' },
    damaged: true,
  })
})
