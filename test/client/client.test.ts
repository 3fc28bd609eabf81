// The client against a daemon: values, errors, pages and batches.
import { expect, test } from 'bun:test'
import { ClientError, createClient, type NewPlant } from '../../src/client/client'
import { listWords, TEXT_FIELDS } from '../../src/plant/plant'
import { TOKEN } from '../harness/daemon'
import { own } from '../harness/own'
import { ownDaemon } from '../harness/own-daemon'
import { exercise } from './scenario'

const { daemon, stored, createToken } = ownDaemon({
  args: ['--log-requests', '--keep-changes', '1d'],
})
const clientAt = (url: string, token: string = TOKEN) => createClient({ url, token })
const client = own(() => clientAt(daemon.url))
const stranger = own(() => clientAt(daemon.url, 'pst_unknown'))

/** Returns `count` plants with ascending ids, the first of them `from`. */
const rowOf = (from: bigint, count: number, tag: string): NewPlant[] =>
  Array.from({ length: count }, (_, index) => ({
    id: from + BigInt(index),
    name: `plant ${index}`,
    tag,
  }))

test('the client writes and reads plants exactly, at both ends of int64', async () => {
  expect(await exercise(client)).toEqual([])
})

test('the client resolves to a refusal with its number', async () => {
  const reader = clientAt(daemon.url, await createToken('reader', '--scope', 'read'))

  expect(await client.readPlant(404n)).toMatchObject({ ok: false, error: 40402, status: 404 })
  expect(await reader.createPlant({ id: 1n, name: 'a' })).toMatchObject({ error: 40301 })
  expect(await stranger.readPlant(1n)).toMatchObject({ error: 40102, status: 401 })
  expect(await client.createPlant({ id: 2n ** 63n, name: 'a' })).toMatchObject({ error: 40002 })
  expect(await client.createPlant({ id: 1n, name: 'a\0' })).toMatchObject({ error: 40002 })
  expect(stored(1n)).toBeUndefined()
})

test('the client reports a response that is not from plantstore as error 0', async () => {
  await using page = serve(() => new Response('<!doctype html>'))
  const lost = createClient({ url: 'http://127.0.0.1:1', token: TOKEN, retries: 0 })

  const missing = await lost.readPlant(1n)
  expect(missing).toMatchObject({ ok: false, error: 0, status: 0 })
  expect(missing.ok || missing.cause).toBeInstanceOf(Error)
  const strange = clientAt(page.url)
  expect(await strange.readPlant(1n)).toMatchObject({ ok: false, error: 0, status: 200 })
  expect(await strange.deletePlant(1n)).toMatchObject({ ok: false, error: 0, status: 200 })
})

test('the client keeps the path of its URL', async () => {
  await using proxy = serve((request) => {
    const { pathname, search } = new URL(request.url)
    if (!pathname.startsWith('/garden/')) return new Response('', { status: 404 })
    return fetch(`${daemon.url}${pathname.slice('/garden'.length)}${search}`, request)
  })

  for (const path of ['/garden', '/garden/?x=1#y']) {
    expect(await exercise(clientAt(`${proxy.url}${path}`))).toEqual([])
  }
})

test('the client refuses ids that would be rounded, and values that no header can hold, before it sends anything', async () => {
  // @ts-expect-error: a program without types may send a number.
  const created = client.createPlant({ id: 5, name: 'a' })
  await expect(created).rejects.toThrow('an id must be a bigint, such as 1n')
  const deleted = client.deletePlant(1n, { ifMatch: 'a\nb' })
  await expect(deleted).rejects.toThrow(TypeError)
  const read = client.readPlant(1n, { headers: { 'x-a': 'a\nb' } })
  await expect(read).rejects.toThrow(TypeError)
})

test('a wrong argument rejects the promise; the call never throws', async () => {
  // A program without types may pass anything.
  const wrong = null as never
  const calls = [
    client.createPlant(wrong),
    client.createPlants(wrong),
    client.createPlants([wrong]),
    client.putPlants(wrong),
    client.putPlants([wrong]),
    client.deletePlants(wrong),
    client.deletePlants([wrong]),
    client.createAll(wrong).next(),
    client.readPlant(wrong),
    client.listPlants(wrong),
    client.plants(wrong).next(),
    client.listChanges(wrong),
    client.changes(wrong).next(),
    client.listHistory(wrong),
    client.history(wrong),
    client.follow(wrong).next(),
    client.replacePlant(wrong),
    client.patchPlant(wrong, {}),
    client.patchPlant(1n, wrong),
    client.deletePlant(wrong),
  ]

  const outcomes = await Promise.allSettled(calls)

  for (const outcome of outcomes) {
    expect(outcome).toMatchObject({ status: 'rejected', reason: expect.any(TypeError) })
  }
})

test.each([
  'nowhere',
  'localhost:3000',
  'ftp://localhost',
  'file:///plants',
  'http://user@localhost',
  'http://:password@localhost',
])('the client refuses the URL %s', (address) => {
  expect(() => clientAt(address)).toThrow(TypeError)
})

test('the client refuses a token that no header can hold, and endless retries', () => {
  expect(() => clientAt(daemon.url, 'a\nb')).toThrow(TypeError)
  expect(() => createClient({ url: daemon.url, token: TOKEN, retries: Number.NaN })).toThrow(
    TypeError,
  )
  expect(() => createClient({ url: daemon.url, token: TOKEN, retries: -1 })).toThrow(TypeError)
})

/** Starts a proxy that changes the etags in the daemon's responses, with a client of that proxy. */
function behindProxy(change: (etag: string) => string | null) {
  const proxy = serve(async (request) => {
    const { pathname } = new URL(request.url)
    const response = await fetch(`${daemon.url}${pathname}`, request)
    const headers = new Headers(response.headers)
    const etag = headers.get('etag')
    headers.delete('etag')
    const changed = etag === null ? null : change(etag)
    if (changed !== null) headers.set('etag', changed)
    return new Response(response.body, { status: response.status, headers })
  })
  return { ...proxy, client: clientAt(proxy.url) }
}

test('the client rejects a condition without a value, as behind a proxy that removes ETag', async () => {
  await using proxy = behindProxy(() => null)
  const behind = proxy.client
  await behind.createPlant({ id: 70n, name: 'a' })
  const read = await behind.readPlant(70n)
  const etag = read.ok ? read.etag : 'none'

  expect(etag).toBeUndefined()
  const calls = [
    behind.patchPlant(70n, { name: 'b' }, { ifMatch: etag }),
    behind.replacePlant({ id: 70n, name: 'b' }, { ifMatch: etag }),
    behind.deletePlant(70n, { ifMatch: etag }),
    behind.readPlant(70n, { ifNoneMatch: etag }),
    behind.deletePlant(70n, { ifMatch: '' }),
  ]
  for (const outcome of await Promise.allSettled(calls)) {
    expect(outcome).toMatchObject({ status: 'rejected', reason: expect.any(TypeError) })
  }
  expect(stored(70n)).toEqual({ id: 70n, name: 'a', tag: null })
})

test('the client sends the cursor of a change with a read that must see it', async () => {
  const sent: (string | null)[] = []
  const watched = createClient({
    url: daemon.url,
    token: TOKEN,
    fetch(to, init) {
      sent.push(new Headers(init.headers).get('plantstore-cursor'))
      return fetch(to, init)
    },
  })
  const created = await watched.createPlant({ id: 81n, name: 'a' })
  const cursor = created.ok ? created.cursor : undefined
  await watched.readPlant(81n, { cursor })
  const end = await watched.listChanges({ after: 'now' })

  expect(sent).toEqual([null, cursor ?? 'none', null])
  expect(end).toMatchObject({ value: { next: cursor } })
})

test('the client does not accept a 304 that it did not ask for', async () => {
  await using proxy = serve(() => new Response(null, { status: 304 }))

  const read = await clientAt(proxy.url).readPlant(1n)

  expect(read).toMatchObject({ ok: false, error: 0, status: 304 })
})

test('the client reads the name, the scope and the expiry of its token', async () => {
  const phone = await createToken('phone', '--scope', 'read', '--expires', '30d')

  expect(await clientAt(daemon.url, phone).readToken()).toMatchObject({
    ok: true,
    value: { name: 'phone', scope: 'read', expires: expect.stringMatching(/Z$/), changeLog: true },
  })
})

test('the client reports that the service cannot write', async () => {
  const body = { error: 50302, message: 'cannot write' }
  await using other = serve(() => Response.json(body, { status: 503 }))

  const health = await clientAt(other.url).health()
  expect(health).toMatchObject({ ok: false, error: 50302, status: 503 })
})

test('the client sends the headers of a call, and returns the request id even if refused', async () => {
  const other = await createToken('other')
  const headers = { 'X-Request-Id': 'walk-7', Authorization: `Bearer ${other}` }

  const listed = await stranger.listPlants({ limit: 1 }, { headers })
  const missing = await stranger.readPlant(404n, { headers })
  const unnamed = await client.readPlant(404n)

  expect(listed).toMatchObject({ ok: true, requestId: 'walk-7' })
  expect(missing).toMatchObject({ error: 40402, requestId: 'walk-7' })
  expect(unnamed).toMatchObject({ error: 40402, requestId: expect.stringMatching(/^.{8,}$/) })
})

test('the client drops no field of a change and no guard, whatever a program passes', async () => {
  await client.createPlant({ id: 51n, name: 'a', tag: 't' })
  const plant: NewPlant = { id: 51n, name: 'a' }
  const misspelt: object = { nmae: 'b' }
  const refusal = { ok: false, error: 40002 }

  expect(await client.patchPlant(51n, misspelt)).toMatchObject(refusal)
  expect(await client.patchPlants([{ id: 51n, ...misspelt }])).toMatchObject(refusal)
  const wasMisspelt = { id: 51n, name: 'b', was: misspelt }
  expect(await client.patchPlants([wasMisspelt])).toMatchObject({
    ...refusal,
    message: `plants[0].was (id 51): unknown field; use ${listWords(TEXT_FIELDS, 'or')}`,
  })
  expect(await client.patchPlants([{ id: 51n, name: 'b', was: plant }])).toMatchObject(refusal)
  await expect(client.patchPlants([{ id: 51n, name: 'b', was: undefined }])).rejects.toThrow(
    'no value for was',
  )
  // A plant that was read without a tag.
  const was = { name: plant.name, tag: plant.tag }
  const outcome = await client.patchPlants([{ id: 51n, name: 'b', was }])
  expect(outcome).toMatchObject({ ok: true, value: { patched: 0, conflicts: [{ id: 51n }] } })
  expect(stored(51n)).toEqual({ id: 51n, name: 'a', tag: 't' })

  expect(await client.patchPlant(51n, { ...plant, name: 'b' })).toMatchObject({ ok: true })
  expect(stored(51n)).toEqual({ id: 51n, name: 'b', tag: 't' })
})

test.each([
  ['weak, by nginx', (tag: string) => `W/${tag}`],
  ['with -zstd, by Caddy', (tag: string) => tag.replace(/"$/, '-zstd"')],
])('the client recognizes an etag that a compressing proxy changed: %s', async (_, change) => {
  await using proxy = behindProxy(change)
  const behind = proxy.client
  await behind.createPlant({ id: 60n, name: 'a' })

  const direct = await client.readPlant(60n)
  const read = await behind.readPlant(60n)
  const ifMatch = read.ok ? read.etag : undefined
  expect(ifMatch).toBe(direct.ok ? direct.etag : 'none')
  expect(await behind.readPlant(60n, { ifNoneMatch: ifMatch })).toMatchObject({ value: null })
  expect(await behind.patchPlant(60n, { tag: 'b' }, { ifMatch })).toMatchObject({ ok: true })
  expect(await behind.patchPlant(60n, { tag: 'c' }, { ifMatch })).toMatchObject({ error: 41201 })
  expect(await behind.deletePlant(60n)).toMatchObject({ ok: true })
})

test('the client keeps an etag that happens to end with the name of a coding', async () => {
  const etag = '"ABCDEFGHIJKLMNOPQ-gzip"'
  await using fixed = serve(() => Response.json({ id: 1, name: 'a' }, { headers: { etag } }))

  const read = await clientAt(fixed.url).readPlant(1n)

  expect(read).toMatchObject({ ok: true, etag })
})

test('the client reads all pages of a tag, and throws the refusal of a page', async () => {
  const plants = rowOf(2n ** 53n - 20n, 45, 'pages')
  await client.createPlants(plants)

  const found = await Array.fromAsync(client.plants({ tag: 'pages', limit: 10 }))
  expect(found).toEqual(plants)
  const rest = await Array.fromAsync(client.plants({ tag: 'pages', after: 2n ** 53n + 20n }))
  expect(rest).toEqual(plants.slice(-4))
  const refused = Array.fromAsync(stranger.plants())
  await expect(refused).rejects.toThrow(ClientError)
  await expect(refused).rejects.toMatchObject({ failure: { error: 40102 } })
})

test('the client continues after an empty page', async () => {
  const pages = [
    { plants: [], next: '5' },
    { plants: [{ id: 9, name: 'Ficus' }], next: null },
  ]
  const asked: string[] = []
  await using search = serve((request) => {
    asked.push(new URL(request.url).search)
    return Response.json(pages[asked.length - 1])
  })
  const found = clientAt(search.url).plants({ name: 'FICUS & co' })

  expect(await Array.fromAsync(found)).toEqual([{ id: 9n, name: 'Ficus' }])
  expect(asked).toEqual(['?name=FICUS+%26+co&limit=1000', '?name=FICUS+%26+co&limit=1000&after=5'])
})

test('the client lists descending ids, page by page, exact at both ends of int64', async () => {
  const ids = [-(2n ** 63n), -1n, 2n ** 54n, 2n ** 54n + 1n, 2n ** 63n - 1n]
  const plants = ids.map((id) => ({ id, name: `end ${id}`, tag: 'ends' }))
  expect(await client.createPlants(plants)).toMatchObject({ ok: true })

  for (const limit of [1, 2, 1000]) {
    const listed = client.plants({ order: 'desc', limit, tag: 'ends' })
    expect(await Array.fromAsync(listed)).toEqual(plants.toReversed())
  }
  const below = client.plants({ order: 'desc', after: 2n ** 54n + 1n, name: 'END ', limit: 1 })
  expect(await Array.fromAsync(below)).toEqual(plants.slice(0, 3).toReversed())
})

test('the client creates any number of plants in batches, and reports the refused ones', async () => {
  const plants = rowOf(100_000n, 2300, 'many')
  const taken = { id: 101_234n, name: 'taken' }
  const wrong = { id: 102_299n, name: 'zero \0' }
  await client.createPlants([taken, ...plants.slice(5, 8)])
  async function* stream() {
    yield* plants.slice(0, -1)
    yield wrong
  }

  const outcomes = await Array.fromAsync(client.createAll(stream()))

  expect(outcomes.map(({ created, known, refused }) => [created, known, refused.length])).toEqual([
    [997, 3, 0],
    [999, 0, 1],
    [299, 0, 1],
  ])
  const refused = outcomes.flatMap((outcome) => outcome.refused)
  expect(refused).toMatchObject([
    { plant: { id: taken.id }, failure: { error: 40902 } },
    { plant: wrong, failure: { error: 40002 } },
  ])
  const found = await Array.fromAsync(client.plants({ tag: 'many' }))
  expect(found).toEqual(plants.slice(0, -1).filter(({ id }) => id !== taken.id))
})

test('the client splits batches so that no body is too large', async () => {
  const name = '\u{1F331}'.repeat(50_000)
  const plants = Array.from({ length: 12 }, (_, index) => ({ id: 200_000n + BigInt(index), name }))

  const outcomes = await Array.fromAsync(client.createAll(plants))

  expect(outcomes.reduce((sum, { created }) => sum + created, 0)).toBe(12)
  expect(outcomes.length).toBeGreaterThan(2)
})

test('the client throws an error that refuses every batch', async () => {
  const all = Array.fromAsync(stranger.createAll(rowOf(300_000n, 2, 'none')))

  await expect(all).rejects.toMatchObject({ failure: { error: 40102 } })
  expect(stored(300_000n)).toBeUndefined()
})

test('every method of the client accepts a signal', async () => {
  const signal = AbortSignal.abort(new Error('changed my mind'))
  const options = { signal }
  const plant = { id: 400_000n, name: 'a' }

  for (const call of [
    client.createPlant(plant, options),
    client.createPlants([plant], options),
    client.readPlant(1n, options),
    client.listPlants({}, options),
    client.replacePlant(plant, options),
    client.patchPlant(1n, {}, options),
    client.deletePlant(1n, options),
  ]) {
    expect(await call).toMatchObject({ ok: false, error: 0, cause: signal.reason })
  }
  for (const all of [client.plants({}, options), client.createAll([plant], options)]) {
    await expect(Array.fromAsync<unknown>(all)).rejects.toThrow('changed my mind')
  }
  expect(stored(plant.id)).toBeUndefined()
})

function serve(respond: (request: Request) => Response | Promise<Response>) {
  const server = Bun.serve({ port: 0, hostname: '127.0.0.1', fetch: respond })
  return {
    url: `http://127.0.0.1:${server.port}`,
    [Symbol.asyncDispose]: () => server.stop(true),
  }
}

test('the client lists tags page by page, with and without the empty one', async () => {
  await client.putPlants([
    { id: 77_000_001n, name: 'tagged', tag: '' },
    { id: 77_000_002n, name: 'tagged', tag: '🌵 77' },
  ])
  const cactus = { tag: '🌵 77', plants: 1 }

  expect(await client.listTags({ limit: 1 })).toMatchObject({
    value: { tags: [{ tag: '', plants: expect.any(Number) }], next: '!' },
  })
  expect(await client.listTags({ after: '🌵 76' })).toMatchObject({
    value: { tags: [cactus], next: null },
  })
})
