// Long answers are compressed where the client accepts it (RFC 9110, section 12.5.3).
import { beforeAll, expect, test } from 'bun:test'
import { choose } from '../../src/http/responses/accept'
import { ownDaemon } from '../harness/own-daemon'
import { expectError } from '../harness/plants'

const { daemon } = ownDaemon({ args: ['--cors-origin', 'https://a.org'] })
const plants = Array.from({ length: 1000 }, (_, id) => ({ id, name: `Ficus lyrata Größe ${id}` }))
const name = 'ficus '.repeat(100)
const long = plants.map(({ id }) => ({ id: 10_000 + id, name, tag: 'long' }))
beforeAll(async () => {
  await daemon.fetch('/plants/batch', { json: { plants } })
  await daemon.fetch('/plants/batch', { json: { plants: long } })
})

const get = (path: string, accepted: string, method = 'GET') =>
  daemon.fetch(path, { method, headers: { 'accept-encoding': accepted }, decompress: false })

const codingOf = ({ headers }: Response) => headers.get('content-encoding')
const unzip = async (response: Response) =>
  Buffer.from(Bun.gunzipSync(await response.arrayBuffer())).toString()

test.each([
  '/plants',
  '/plants?limit=1000',
  '/plants?limit=1000&after=1',
  '/plants?name=Ficus',
  '/plants?limit=100&tag=long',
  '/openapi.json',
])('the daemon compresses %s without changing its content', async (path) => {
  const [plain, zipped] = [await get(path, 'identity'), await get(path, 'gzip, deflate, br')]
  const text = await plain.text()

  expect([codingOf(plain), codingOf(zipped)]).toEqual([null, 'gzip'])
  for (const name of ['content-type', 'link', 'cache-control', 'x-content-type-options']) {
    expect({ [name]: zipped.headers.get(name) }).toEqual({ [name]: plain.headers.get(name) })
  }
  for (const { headers } of [plain, zipped]) {
    expect(headers.get('vary')).toBe('accept-encoding, Origin')
  }
  expect(Number(zipped.headers.get('content-length'))).toBeLessThan(text.length / 3)
  expect(await unzip(zipped)).toBe(text)
  // A second one is the same, and a HEAD has its fields.
  const head = await get(path, 'gzip', 'HEAD')
  const again = await get(path, 'gzip')
  expect(codingOf(head)).toBe('gzip')
  expect(head.headers.get('content-length')).toBe(again.headers.get('content-length'))
  expect(await unzip(again)).toBe(text)
})

test('the daemon compresses the metrics, in the text format of Prometheus', async () => {
  const response = await get('/metrics', 'gzip')

  expect(codingOf(response)).toBe('gzip')
  expect(response.headers.get('content-type')).toStartWith('text/plain; version=0.0.4')
  expect(await unzip(response)).toMatch(/\nplantstore_plants 2000\n/)
})

test.each(['', 'br', 'gzip;q=0'])(
  'the daemon compresses nothing for a client that accepts "%s"',
  async (accepted) => {
    for (const path of ['/plants', '/openapi.json', '/metrics']) {
      expect({ path, coding: codingOf(await get(path, accepted)) }).toEqual({ path, coding: null })
    }
  },
)

test('the daemon does not compress short or very long lists, single plants, creates or errors', async () => {
  const create = await daemon.fetch('/plants', {
    json: { id: 5000, name: 'a'.repeat(5000) },
    headers: { 'accept-encoding': 'gzip' },
    decompress: false,
  })
  const plant = await get('/plants/5000', 'gzip')
  const list = await get('/plants?limit=5', 'gzip')
  const long = await get('/plants?limit=1000&tag=long', 'gzip')
  const refused = await get('/plants?limit=0', 'gzip')

  expect([create, plant, list, long, refused].map(codingOf)).toEqual(Array(5).fill(null))
  expect(list.headers.get('vary')).toBe('accept-encoding, Origin')
  expect(plant.headers.get('vary')).toBe('Origin')
  expect(plant.headers.get('etag')).toMatch(/^"[\w-]{22}"$/)
  expect(await plant.text()).toContain('"name":"aaa')
  await expectError(refused, 40002)
})

test.each([
  [null, 'identity'],
  ['', 'identity'],
  ['gzip', 'gzip'],
  ['GZIP ;Q=1.000', 'gzip'],
  ['gzip, deflate, br, zstd', 'br'],
  ['br;q=0.5, gzip;q=0.8', 'gzip'],
  ['br;q=0.8, gzip;q=0.8', 'br'],
  ['br;q=0, gzip', 'gzip'],
  ['br;q=0, *', 'gzip'],
  ['*', 'br'],
  ['*;q=0.1, gzip;q=0.001', 'br'],
  ['*;q=0', 'identity'],
  ['identity, *;q=0.5', 'identity'],
  ['identity;q=0.5, gzip;q=0.4', 'identity'],
  ['identity;q=0.5, gzip;q=0.5', 'gzip'],
  ['identity;q=0, gzip;q=0.001', 'gzip'],
  ['identity;q=0', 'identity'],
  ['gzip;q=1.1', 'identity'],
  ['gzip;q=-1', 'identity'],
  ['gzip;q=0.0001', 'identity'],
  ['gzip;q', 'identity'],
  ['xgzip, gzipx, "gzip"', 'identity'],
  [',, gzip,', 'gzip'],
])('the daemon chooses the coding for %j: %s', (header, coding) => {
  expect(choose(header, ['br', 'gzip', 'identity']) ?? 'identity').toBe(coding)
})
