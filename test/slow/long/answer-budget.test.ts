import { beforeAll, expect, test } from 'bun:test'
import { connect, request } from '../../harness/http'
import { openNonReaders } from '../../harness/non-readers'
import { ownDaemon } from '../../harness/own-daemon'
import { ownPages } from '../../harness/own-pages'
import { expectError } from '../../harness/plants'
import { until } from '../../harness/until'

ownPages()
const { daemon } = ownDaemon()

// Answers of 1.5 MB: JSON writes each control character with six.
const NAME = '\u0001'.repeat(900)
const PLANTS = Array.from({ length: 290 }, (_, id) => ({ id, name: NAME }))
beforeAll(async () => {
  for (const from of [0, 145]) {
    await daemon.fetch('/plants/batch', { json: { plants: PLANTS.slice(from, from + 145) } })
  }
})
const list = (limit: number) => request('GET', `/plants?limit=${limit}`, daemon.token)

const untilUnsent = (holds: (bytes: number) => boolean) =>
  until(`unsent bytes: ${holds}`, async () => holds(await daemon.metric('plantstore_unsent_bytes')))

test('a long response has its length, even for a HEAD, and is counted while it waits', async () => {
  using connection = await connect(daemon.url)
  const answer = await connection.send(list(1000))
  const first = await connection.send(request('HEAD', '/plants?limit=1000', daemon.token), 'HEAD')

  const { plants } = JSON.parse(answer?.body ?? '')
  expect(plants.length).toBeGreaterThan(200)
  expect(plants).toEqual(PLANTS.slice(0, plants.length))
  expect(answer?.headers['content-length']).toBe(String(answer?.body.length))
  expect(first?.headers['content-length']).toBe(answer?.headers['content-length'])
  expect(await daemon.metric('plantstore_unsent_bytes')).toBe(0)
})

test('simultaneous changes are refused or acknowledged: none is made without a response', async () => {
  using clients = openNonReaders(daemon.port, 15)
  clients.send(list(1000))
  await untilUnsent((bytes) => bytes > 15 * 1.4e6)
  const name = 'x'.repeat(900_000)
  const statuses = await Promise.all(
    Array.from({ length: 20 }, async (_, n) => {
      const answer = await daemon.create(JSON.stringify({ id: 3000 + n, name }))
      await answer.arrayBuffer()
      return answer.status
    }),
  )
  const stored = await Promise.all(
    statuses.map((_, n) => daemon.fetch(`/plants/${3000 + n}`, { method: 'HEAD' })),
  )

  expect(stored.map(({ status }) => status)).toEqual(statuses.map((it) => (it === 200 ? 200 : 404)))
  expect(new Set(statuses)).toEqual(new Set([200, 503]))
})

test('long lists and plants are refused while many clients read nothing, and other requests succeed', async () => {
  await daemon.create(JSON.stringify({ id: 1000, name: 'x'.repeat(100_000) }))
  using clients = openNonReaders(daemon.port, 40)
  clients.send(list(1000))
  await untilUnsent((bytes) => bytes > 20e6)

  const refused = await daemon.fetch('/plants?limit=1000')
  expect(refused.headers.get('retry-after')).not.toBeNull()
  await expectError(refused, 50301)
  const long = JSON.stringify({ id: 2000, name: 'x'.repeat(900_000) })
  await expectError(await daemon.create(long), 50301)
  await expectError(await daemon.fetch('/plants/2000'), 40402)
  const patch = { method: 'PATCH', json: { tag: 'a' } }
  await expectError(await daemon.fetch('/plants/1000', patch), 50301)
  expect(await (await daemon.fetch('/plants?tag=a')).json()).toMatchObject({ plants: [] })
  expect((await daemon.create('{"id":2001,"name":"Rose"}')).status).toBe(200)
  expect((await daemon.fetch('/plants?limit=10')).status).toBe(200)
  expect((await daemon.fetch('/docs')).status).toBe(200)

  clients.close()
  await untilUnsent((bytes) => bytes === 0)
  expect((await daemon.create(long)).status).toBe(200)
  expect((await daemon.fetch('/plants/1000', patch)).status).toBe(200)
})
