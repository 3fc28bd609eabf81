// PATCH of a plant, as JSON Merge Patch (RFC 7396).
import { expect, test } from 'bun:test'
import { FIELDS, listWords, TEXT_FIELDS } from '../../src/plant/plant'
import { ownDaemon } from '../harness/own-daemon'
import { expectError } from '../harness/plants'

const { daemon, stored, createToken } = ownDaemon()

const MERGE_PATCH = 'application/merge-patch+json'

const patch = (id: string | bigint, body: string, headers: Record<string, string> = {}) =>
  daemon.fetch(`/plants/${id}`, { method: 'PATCH', body, headers })

const UNKNOWN = `the body: unknown field; use ${listWords(FIELDS, 'or')}`

test.each([
  MERGE_PATCH,
  'application/json',
  `${MERGE_PATCH}; charset=utf-8`,
  'Application/Merge-Patch+JSON',
])(
  'changes the fields that a patch of type %s has, and answers the plant as it is stored',
  async (type) => {
    const id = 9223372036854775807n
    await daemon.create(`{"id":${id},"name":"Rose","tag":"shrub"}`)
    await patch(id, '{"name":"Rose","tag":"shrub"}')
    const change = (body: string) => patch(id, body, { 'content-type': type })

    const answer = await change('{"name":"Dog rose"}')
    expect(answer.status).toBe(200)
    expect(answer.headers.get('content-type')).toBe('application/json')
    expect(await answer.text()).toBe(`{"id":${id},"name":"Dog rose","tag":"shrub"}`)
    expect(stored(id)).toEqual({ id, name: 'Dog rose', tag: 'shrub' })

    expect(await (await change('{"tag":null}')).text()).toBe(`{"id":${id},"name":"Dog rose"}`)
    expect(stored(id)).toEqual({ id, name: 'Dog rose', tag: null })
    expect(await (await change('{"tag":null}')).text()).toBe(`{"id":${id},"name":"Dog rose"}`)
    expect(await (await change('{"tag":"","name":""}')).text()).toBe(
      `{"id":${id},"name":"","tag":""}`,
    )
    expect(await (await change('{}')).text()).toBe(`{"id":${id},"name":"","tag":""}`)
    expect(stored(id)).toEqual({ id, name: '', tag: '' })
  },
)

test('uses the id of the path, exactly', async () => {
  const id = 9007199254740993n
  await daemon.create(`{"id":${id},"name":"Elm"}`)

  const body = `{"id":${id},"tag":"tree"}`
  expect(await (await patch(id, body)).text()).toBe(`{"id":${id},"name":"Elm","tag":"tree"}`)
  expect(stored(id)).toEqual({ id, name: 'Elm', tag: 'tree' })
})

test.each([
  ['{"nmae":"x"}', 40002, UNKNOWN],
  ['{"name":"x","Tag":null}', 40002, UNKNOWN],
  ['{"name":"x","was":{"name":"y"}}', 40002, UNKNOWN],
  ['{"name":"x","__proto__":{"tag":"y"}}', 40002, UNKNOWN],
  ['{"name":null}', 40002, 'name: expected a string, found null'],
  ['{"name":5,"tag":5}', 40002, 'name: '],
  ['{"tag":5}', 40002, 'tag: expected a string or null, found a number'],
  ['{"tag":[]}', 40002, 'tag: '],
  ['{"tag":"\\u0000"}', 40002, 'tag: '],
  ['{"name":"\\ud800"}', 40002, 'name: '],
  ['{"id":7,"name":"a"}', 40002, 'id: must match the id in the path'],
  ['{"id":"6","name":"a"}', 40002, 'id: '],
  ['{"id":null,"name":"a"}', 40002, 'id: '],
  ['[{"op":"remove","path":"/tag"}]', 40002, 'the body: '],
  ['null', 40002, `the body: expected an object with any of ${TEXT_FIELDS.join(', ')}, found null`],
  ['"a"', 40002, 'the body: '],
  ['{"name":', 40001, 'the body '],
  ['', 40001, 'the body '],
] as const)('does not change a plant by %s', async (body, error, message) => {
  await daemon.create('{"id":6,"name":"Bay","tag":"laurel"}')

  expect(await expectError(await patch(6n, body), error)).toStartWith(message)
  expect(stored(6n)).toEqual({ id: 6n, name: 'Bay', tag: 'laurel' })
})

test('refuses an unknown field of a long patch too', async () => {
  await daemon.create('{"id":12,"name":"Bay"}')
  const spaces = ' '.repeat(100_000)

  await expectError(await patch(12n, `{"name":"x","y":1${spaces}}`), 40002)
  expect(stored(12n)?.name).toBe('Bay')
})

test.each([
  'application/json-patch+json',
  'text/plain',
  'application/merge-patch',
  'application/merge-patch+json; charset=latin1',
  'application/merge-patch+json, application/json',
])('refuses a patch of type %s, and names the accepted types', async (type) => {
  await daemon.create('{"id":8,"name":"Bay"}')

  const answer = await patch(8n, '{"name":"a"}', { 'content-type': type })

  expect(answer.headers.get('accept-patch')).toBe(`${MERGE_PATCH}, application/json`)
  expect(await expectError(answer, 41501)).toContain(MERGE_PATCH)
  expect(stored(8n)?.name).toBe('Bay')
})

test('refuses an encoded patch, and does not blame its type', async () => {
  const answer = await patch(8n, '{"name":"a"}', { 'content-encoding': 'gzip' })

  expect(answer.headers.get('accept-encoding')).toBe('identity')
  expect(answer.headers.has('accept-patch')).toBeFalse()
  await expectError(answer, 41501)
})

test('accepts a merge patch where a patch is expected, and nowhere else', async () => {
  const headers = { 'content-type': MERGE_PATCH }
  for (const [method, path] of [
    ['POST', '/plants'],
    ['PUT', '/plants/8'],
    ['POST', '/plants/batch'],
  ] as const) {
    const answer = await daemon.fetch(path, { method, headers, body: '{"id":8,"name":"a"}' })
    expect(answer.headers.has('accept-patch')).toBeFalse()
    await expectError(answer, 41501)
  }
})

test('does not patch a missing plant, nor with a read-only token', async () => {
  await expectError(await patch(404n, '{"name":"a"}'), 40402)
  await daemon.create('{"id":10,"name":"Bay"}')
  const reader = await createToken('reader', '--scope', 'read')
  const authorization = `Bearer ${reader}`
  await expectError(await patch(10n, '{"name":"a"}', { authorization }), 40301)
  await expectError(await patch('x', '{"name":"a"}'), 40002)
  expect(stored(10n)?.name).toBe('Bay')
})

test('keeps both of two simultaneous patches of different fields', async () => {
  await daemon.create('{"id":11,"name":"a","tag":"a"}')
  for (let round = 0; round < 50; round++) {
    await Promise.all([patch(11n, `{"name":"n${round}"}`), patch(11n, `{"tag":"t${round}"}`)])
    expect(stored(11n)).toEqual({ id: 11n, name: `n${round}`, tag: `t${round}` })
  }
})

test('finds a patched plant by its new tag', async () => {
  await daemon.create('{"id":12,"name":"a","tag":"old"}')
  await patch(12n, '{"tag":"new"}')

  expect(await (await daemon.fetch('/plants?tag=old')).text()).toBe('{"plants":[],"next":null}')
  expect(await (await daemon.fetch('/plants?tag=new')).text()).toContain('"id":12')
})
