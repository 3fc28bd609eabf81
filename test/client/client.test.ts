// The client against a daemon: values, errors, pages and batches.
import { expect, test } from 'bun:test'
import { ClientError, createClient, type NewPlant } from '../../src/client/client'
import { startOwnDaemon } from '../harness/own-daemon'
import { exercise } from './scenario'

const { daemon, stored, createToken } = await startOwnDaemon({ args: ['--name-index'] })
const { url, token } = daemon
const client = createClient({ url, token })

/** So many plants from an id on. */
const rowOf = (from: bigint, count: number, tag: string): NewPlant[] =>
  Array.from({ length: count }, (_, index) => ({
    id: from + BigInt(index),
    name: `plant ${index}`,
    tag,
  }))

test('writes and reads plants exactly, at both ends of int64', async () => {
  expect(await exercise(client)).toEqual([])
})

test('gives a refusal as a value with its number', async () => {
  const reader = createClient({ url, token: await createToken('reader', '--scope', 'read') })
  const stranger = createClient({ url, token: 'pst_unknown' })

  expect(await client.readPlant(404n)).toMatchObject({ ok: false, error: 40402, status: 404 })
  expect(await reader.createPlant({ id: 1n, name: 'a' })).toMatchObject({ error: 40301 })
  expect(await stranger.readPlant(1n)).toMatchObject({ error: 40102, status: 401 })
  expect(await client.createPlant({ id: 2n ** 63n, name: 'a' })).toMatchObject({ error: 40002 })
  expect(await client.createPlant({ id: 1n, name: 'a\0' })).toMatchObject({ error: 40002 })
  expect(stored(1n)).toBeUndefined()
})

test('gives what is no answer of plantstore as a value with the number 0', async () => {
  await using page = await servePage()
  const lost = createClient({ url: 'http://127.0.0.1:1', token, retries: 0 })

  const missing = await lost.readPlant(1n)
  expect(missing).toMatchObject({ ok: false, error: 0, status: 0 })
  expect(missing.ok || missing.cause).toBeInstanceOf(Error)
  const strange = createClient({ url: page.url, token })
  expect(await strange.readPlant(1n)).toMatchObject({ ok: false, error: 0, status: 200 })
  expect(await strange.deletePlant(1n)).toMatchObject({ ok: false, error: 0, status: 200 })
})

test('keeps the path of its URL', async () => {
  await using proxy = serve((request) => {
    const { pathname, search } = new URL(request.url)
    if (!pathname.startsWith('/garden/')) return new Response('', { status: 404 })
    return fetch(`${url}${pathname.slice('/garden'.length)}${search}`, request)
  })

  for (const path of ['/garden', '/garden/', '/garden/?x=1#y']) {
    expect(await exercise(createClient({ url: `${proxy.url}${path}`, token }))).toEqual([])
  }
})

test('refuses what would be rounded, and what no request can hold, before it sends anything', async () => {
  // @ts-expect-error: a program without types may send a number.
  expect(() => client.createPlant({ id: 5, name: 'a' })).toThrow(TypeError)
  // @ts-expect-error
  expect(() => client.readPlant(5)).toThrow('an id must be a bigint, such as 1n')
  expect(() => createClient({ url: 'nowhere', token })).toThrow(TypeError)
  expect(() => createClient({ url, token: 'a\nb' })).toThrow(TypeError)
  await expect(client.deletePlant(1n, { ifMatch: 'a\nb' })).rejects.toThrow(TypeError)
})

test('leaves a plant without a name to the service, which refuses it', async () => {
  // @ts-expect-error: a program without types may leave out anything.
  expect(await client.createPlant({ id: 1n })).toMatchObject({ error: 40002, status: 400 })
  // @ts-expect-error
  expect(await client.createPlants([{ id: 1n, tag: 'a' }])).toMatchObject({ error: 40002 })
  // @ts-expect-error
  expect(await client.replacePlant({ id: 1n, name: 5n })).toMatchObject({ error: 40002 })
  expect(stored(1n)).toBeUndefined()
})

test('guards a change by the etag of what was read', async () => {
  await client.createPlant({ id: 50n, name: 'a' })
  const read = await client.readPlant(50n)
  const ifMatch = read.ok ? read.etag : undefined
  expect(ifMatch).toMatch(/^".+"$/)

  expect(await client.patchPlant(50n, { name: 'b' }, { ifMatch })).toMatchObject({ ok: true })
  expect(await client.replacePlant({ id: 50n, name: 'c' }, { ifMatch })).toMatchObject({
    error: 41201,
  })
  expect(await client.deletePlant(50n, { ifMatch })).toMatchObject({ error: 41201, status: 412 })
  expect(stored(50n)).toEqual({ id: 50n, name: 'b', tag: null })
})

test('takes the etag that a compressing proxy made weak', async () => {
  await using proxy = serve(async (request) => {
    const { pathname } = new URL(request.url)
    const answer = await fetch(`${url}${pathname}`, request)
    const headers = new Headers(answer.headers)
    headers.set('etag', `W/${headers.get('etag')}`)
    return new Response(answer.body, { status: answer.status, headers })
  })
  const behind = createClient({ url: proxy.url, token })
  await behind.createPlant({ id: 60n, name: 'a' })

  const read = await behind.readPlant(60n)
  const ifMatch = read.ok ? read.etag : undefined
  expect(await behind.deletePlant(60n, { ifMatch })).toMatchObject({ ok: true })
})

test('goes through all pages of a tag, and throws the refusal of a page', async () => {
  const plants = rowOf(2n ** 53n - 20n, 45, 'pages')
  await client.createPlants(plants)

  const found = await Array.fromAsync(client.plants({ tag: 'pages', limit: 10 }))
  expect(found).toEqual(plants)
  const rest = await Array.fromAsync(client.plants({ tag: 'pages', after: 2n ** 53n + 20n }))
  expect(rest).toEqual(plants.slice(-4))
  const stranger = createClient({ url, token: 'pst_unknown' })
  const refused = Array.fromAsync(stranger.plants())
  await expect(refused).rejects.toThrow(ClientError)
  await expect(refused).rejects.toMatchObject({ failure: { error: 40102 } })
})

test('goes through all pages of the plants whose names begin alike', async () => {
  const plants = ['Ficus & co', 'Ficus', 'Ficus "id":1', 'Ficus', 'Fic'].map((name, index) => ({
    id: 2n ** 62n - BigInt(index),
    name,
  }))
  await client.createPlants(plants)

  const found = await Array.fromAsync(client.plants({ name: 'Ficus', limit: 1 }))

  const wanted = [plants[3], plants[1], plants[2], plants[0]]
  expect(found).toEqual(wanted.filter((plant) => plant !== undefined))
})

test('creates any number of plants in batches, and says which were refused', async () => {
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
    // Larger batches follow one of which plants are stored.
    [1298, 0, 2],
  ])
  const refused = outcomes.flatMap((outcome) => outcome.refused)
  expect(refused).toMatchObject([
    { plant: { id: taken.id }, failure: { error: 40902 } },
    { plant: wrong, failure: { error: 40002 } },
  ])
  const found = await Array.fromAsync(client.plants({ tag: 'many' }))
  expect(found).toEqual(plants.slice(0, -1).filter(({ id }) => id !== taken.id))
})

test('gives back the object of a refused plant, with whatever else it has', async () => {
  const lines = [{ id: 250_000n, name: '\0', line: 7 }]

  const [outcome] = await Array.fromAsync(client.createAll(lines))

  expect(outcome?.refused[0]?.plant.line).toBe(7)
})

test('cuts batches so that a body is not too large', async () => {
  const name = '\u{1F331}'.repeat(50_000)
  const plants = Array.from({ length: 12 }, (_, index) => ({ id: 200_000n + BigInt(index), name }))

  const outcomes = await Array.fromAsync(client.createAll(plants))

  expect(outcomes.reduce((sum, { created }) => sum + created, 0)).toBe(12)
  expect(outcomes.length).toBeGreaterThan(2)
})

test('ends batches with what refuses them all', async () => {
  const stranger = createClient({ url, token: 'pst_unknown' })
  const all = Array.fromAsync(stranger.createAll(rowOf(300_000n, 2, 'none')))

  await expect(all).rejects.toMatchObject({ failure: { error: 40102 } })
  expect(stored(300_000n)).toBeUndefined()
})

test('takes a signal everywhere', async () => {
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
  await expect(Array.fromAsync(client.plants({}, options))).rejects.toThrow('changed my mind')
  await expect(Array.fromAsync(client.createAll([plant], options))).rejects.toThrow(
    'changed my mind',
  )
  expect(stored(plant.id)).toBeUndefined()
})

function serve(answer: (request: Request) => Response | Promise<Response>) {
  const server = Bun.serve({ port: 0, hostname: '127.0.0.1', fetch: answer })
  return {
    url: `http://127.0.0.1:${server.port}`,
    [Symbol.asyncDispose]: () => server.stop(true),
  }
}

const servePage = async () => serve(() => new Response('<!doctype html>'))
