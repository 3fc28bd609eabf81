// ETag, If-Match and If-None-Match, as an editor of plants uses them (RFC 9110, section 13).
import { expect, test } from 'bun:test'
import { TOKEN } from '../harness/daemon'
import { head, once } from '../harness/http'
import { ownDaemon } from '../harness/own-daemon'
import { expectError } from '../harness/plants'

const { daemon, stored } = ownDaemon()

type Init = { readonly method?: string; readonly headers?: Record<string, string>; body?: string }

const send = (id: string | bigint, init: Init = {}) => daemon.fetch(`/plants/${id}`, init)
const put = (id: bigint, body: string, headers: Record<string, string> = {}) =>
  send(id, { method: 'PUT', body, headers })
const patch = (id: bigint, body: string, headers: Record<string, string> = {}) =>
  send(id, { method: 'PATCH', body, headers })
const remove = (id: bigint, headers: Record<string, string> = {}) =>
  send(id, { method: 'DELETE', headers })
const tagOf = (response: Response): string => response.headers.get('etag') ?? 'none'
const read = async (id: bigint) => tagOf(await send(id))

const STRONG = /^"[\w-]{22}"$/
const OTHER = '"AAAAAAAAAAAAAAAAAAAAAA"'

test('every response with a plant has a strong entity tag of its stored fields', async () => {
  const id = 9223372036854775807n
  await daemon.create(id, 'Rose', 'shrub')

  const first = await read(id)
  expect(first).toMatch(STRONG)
  expect(tagOf(await send(id, { method: 'HEAD' }))).toBe(first)
  expect(tagOf(await put(id, '{"name":"Rose","tag":"shrub"}'))).toBe(first)
  expect(tagOf(await patch(id, '{}'))).toBe(first)
  const second = tagOf(await put(id, '{"name":"Rose"}'))
  expect(second).not.toBe(first)
  expect(await read(id)).toBe(second)
  expect(tagOf(await patch(id, '{"tag":""}'))).not.toBeOneOf([first, second])
  expect(tagOf(await patch(id, '{"tag":"shrub"}'))).toBe(first)
  expect(await read(id)).toBe(first)
})

test('the daemon returns 304 without a body if the client has the plant', async () => {
  await daemon.create(1)
  const tag = await read(1n)

  for (const header of [tag, `W/${tag}`, `${OTHER}, ${tag}`, `,, "a,b" , W/${tag} ,`, '*']) {
    for (const method of ['GET', 'HEAD']) {
      const response = await send(1n, { method, headers: { 'if-none-match': header } })
      expect({ header, status: response.status }).toEqual({ header, status: 304 })
      expect(tagOf(response)).toBe(tag)
      expect(response.headers.get('cache-control')).toBe('no-store')
      expect(await response.text()).toBe('')
    }
  }
  for (const header of [OTHER, 'W/"a"', `"${tag.slice(1, -2)}"`, '""']) {
    const response = await send(1n, { headers: { 'if-none-match': header } })
    expect({ header, status: response.status }).toEqual({ header, status: 200 })
    expect(await response.text()).toBe('{"id":1,"name":"Rose"}')
  }
})

// The plant is Oak, and has the entity tag that TAG becomes.
const failing: Record<string, string>[] = [
  { 'if-match': OTHER },
  { 'if-match': `W/${OTHER}, ""` },
  { 'if-none-match': '*' },
  { 'if-none-match': 'TAG' },
  { 'if-none-match': `W/TAG, ${OTHER}` },
  { 'if-match': 'TAG', 'if-none-match': 'TAG' },
]
const holding: Record<string, string>[] = [
  { 'if-match': '*' },
  { 'if-match': ' * ' },
  { 'if-match': 'TAG' },
  { 'if-match': `"a b", TAG`.replace('a b', 'a,b') },
  { 'if-match': `W/TAG,TAG` },
  { 'if-none-match': OTHER },
  { 'if-match': 'TAG', 'if-none-match': OTHER },
]
const fill = (headers: Record<string, string>, tag: string) =>
  Object.fromEntries(
    Object.entries(headers).map(([name, value]) => [name, value.replace(/TAG/g, tag)]),
  )

test.each(failing)('changes nothing if %j fails', async (headers) => {
  await daemon.create(3, 'Oak')
  const filled = fill(headers, await read(3n))

  await expectError(await put(3n, '{"name":"Elm"}', filled), 41201)
  await expectError(await patch(3n, '{"name":"Elm"}', filled), 41201)
  await expectError(await remove(3n, filled), 41201)
  expect(stored(3n)).toEqual({ id: 3n, name: 'Oak', tag: null })
})

test.each(holding)('changes the plant if %j holds', async (headers) => {
  await daemon.create(4, 'Oak')

  expect((await put(4n, '{"name":"Elm"}', fill(headers, await read(4n)))).status).toBe(200)
  expect((await patch(4n, '{"name":"Yew"}', fill(headers, await read(4n)))).status).toBe(200)
  expect(stored(4n)?.name).toBe('Yew')
  expect((await remove(4n, fill(headers, await read(4n)))).status).toBe(204)
  expect(stored(4n)).toBeUndefined()
})

test('the daemon creates a plant by PUT where If-None-Match is *, and returns 201 with it', async () => {
  const id = -9223372036854775808n
  const response = await put(id, '{"name":"Oak","tag":"tree"}', { 'if-none-match': ' * ' })

  expect(response.status).toBe(201)
  expect(await response.text()).toBe(`{"id":${id},"name":"Oak","tag":"tree"}`)
  expect(tagOf(response)).toBe(await read(id))
  // The plant is at the path itself (RFC 9110, section 9.3.4).
  expect(response.headers.get('location')).toBeNull()
  expect(stored(id)).toEqual({ id, name: 'Oak', tag: 'tree' })
  for (const body of ['{"name":"Oak","tag":"tree"}', '{"name":"Elm"}']) {
    await expectError(await put(id, body, { 'if-none-match': '*' }), 41201)
  }
  expect(stored(id)?.name).toBe('Oak')
})

test('the daemon creates no plant by PUT without If-None-Match: *', async () => {
  for (const headers of [
    {},
    { 'if-none-match': OTHER },
    { 'if-match': '*' },
    { 'if-match': '*', 'if-none-match': '*' },
  ]) {
    await expectError(await put(52n, '{"name":"Oak"}', headers), 40402)
  }
  for (const change of [
    send(52n, { headers: { 'if-none-match': '*' } }),
    remove(52n, { 'if-none-match': '*' }),
  ]) {
    await expectError(await change, 40402)
  }
  await expectError(await patch(52n, '{"name":"Oak"}', { 'if-none-match': '*' }), 40402)
  const wrong = await put(52n, '{"id":53,"name":"Oak"}', { 'if-none-match': '*' })
  await expectError(wrong, 40002)
  expect([stored(52n), stored(53n)]).toEqual([undefined, undefined])
})

// Faults of a request, in the order of their checks: each line mends one, so that the next is reported.
const faults: [what: string, error: 40001 | 40002 | 40402 | 41201, id: string, Init][] = [
  ['a body that is not JSON', 40001, 'x', { body: '{', headers: { 'if-match': 'bad' } }],
  ['a body that does not match', 40002, '404', { body: '[]', headers: { 'if-match': 'bad' } }],
  ['an id that is none', 40002, 'x', { headers: { 'if-match': OTHER } }],
  ['a malformed If-Match', 40002, '404', { headers: { 'if-match': 'bad' } }],
  [
    'a malformed If-None-Match',
    40002,
    '404',
    { headers: { 'if-match': '*', 'if-none-match': 'bad' } },
  ],
  ['a missing plant, under a condition', 40402, '404', { headers: { 'if-match': OTHER } }],
  ['a missing plant, unless it has a tag', 40402, '404', { headers: { 'if-none-match': OTHER } }],
  ['a condition that fails', 41201, '400', { headers: { 'if-match': OTHER } }],
]

test.each(faults)('every method of a plant refuses %s: %d', async (_, error, id, init) => {
  await daemon.create(400, 'Oak')
  for (const method of init.body ? ['PUT', 'PATCH'] : ['GET', 'PUT', 'PATCH', 'DELETE']) {
    const body = method.startsWith('P') ? { body: '{"name":"Elm"}' } : {}

    await expectError(await send(id, { method, ...body, ...init }), error)
  }

  expect(stored(400n)).toEqual({ id: 400n, name: 'Oak', tag: null })
  expect(stored(404n)).toBeUndefined()
})

test('the message of a malformed condition names its header', async () => {
  for (const name of ['If-Match', 'If-None-Match']) {
    const response = await send(6n, { headers: { [name]: '"a" "b"' } })
    expect(await expectError(response, 40002)).toStartWith(`${name}: expected * or entity tags`)
  }
})

test('the daemon reads conditions that come in several header lines', async () => {
  await daemon.create(7, 'Oak')
  const tag = await read(7n)
  const request = (lines: string[]) =>
    head('DELETE /plants/7', { authorization: `Bearer ${TOKEN}` }).replace(
      '\r\n\r\n',
      `\r\n${lines.map((line) => `If-Match: ${line}\r\n`).join('')}\r\n`,
    )

  expect((await once(daemon.port, request([OTHER, 'W/"b"'])))?.status).toBe(412)
  expect((await once(daemon.port, request([OTHER, tag])))?.status).toBe(204)
})

test('the daemon recognizes an entity tag that a compressing proxy changed', async () => {
  await daemon.create(12, 'Oak')
  const tag = await read(12n)
  const form = `W/${tag.replace(/"$/, '-gzip"')}`

  const known = await send(12n, { headers: { 'if-none-match': form } })
  expect([known.status, tagOf(known)]).toEqual([304, tag])
  await expectError(await put(12n, '{"name":"Elm"}', { 'if-none-match': form }), 41201)
  const changed = await patch(12n, '{"tag":"a"}', { 'if-match': `${OTHER}, ${form}` })
  expect(changed.status).toBe(200)
  await expectError(await patch(12n, '{"tag":"lost"}', { 'if-match': form }), 41201)
})
