import { expect, test } from 'bun:test'
import { ownDaemon } from '../harness/own-daemon'
import { expectError } from '../harness/plants'

const { daemon, stored } = ownDaemon()

const put = (id: string | bigint, body: string) =>
  daemon.fetch(`/plants/${id}`, { method: 'PUT', body })
const remove = (id: string | bigint) => daemon.fetch(`/plants/${id}`, { method: 'DELETE' })

test('replaces a plant, and answers with the stored one', async () => {
  const id = 9223372036854775807n
  await daemon.create(`{"id":${id},"name":"Rose"}`)

  const answer = await put(id, '{"name":"Dog rose","tag":"shrub","x":1}')

  expect(answer.status).toBe(200)
  expect(answer.headers.get('content-type')).toBe('application/json')
  expect(await answer.text()).toBe(`{"id":${id},"name":"Dog rose","tag":"shrub"}`)
  expect(stored(id)).toEqual({ id, name: 'Dog rose', tag: 'shrub' })
})

test('replaces the whole plant: a tag that is not sent is gone', async () => {
  await daemon.create('{"id":1,"name":"Oak","tag":"tree"}')

  expect(await (await put(1n, '{"name":"Oak"}')).text()).toBe('{"id":1,"name":"Oak"}')
  expect(stored(1n)).toEqual({ id: 1n, name: 'Oak', tag: null })
  const byTag = await daemon.fetch('/plants?tag=tree')
  expect(await byTag.text()).not.toContain('Oak')
})

test('replacing a plant by itself changes nothing', async () => {
  await daemon.create('{"id":2,"name":"Ash"}')

  expect((await put(2n, '{"name":"Ash"}')).status).toBe(200)
  expect((await put(2n, '{"name":"Ash"}')).status).toBe(200)
})

test('accepts a plant as it was read, id included', async () => {
  const id = 9007199254740993n
  await daemon.create(`{"id":${id},"name":"Elm"}`)
  const read = await (await daemon.fetch(`/plants/${id}`)).text()

  const answer = await put(id, read.replace('Elm', 'Yew'))

  expect(await answer.text()).toBe(`{"id":${id},"name":"Yew"}`)
  expect(stored(id)?.name).toBe('Yew')
})

const OTHER_ID = 'id: must match the id in the path, or be left out'

test.each([
  ['4', OTHER_ID],
  ['9007199254740992', OTHER_ID],
  ['9007199254740993.5', 'id: expected'],
  ['"3"', 'id: expected'],
  ['null', 'id: expected'],
  ['9223372036854775808', 'id: expected'],
])('refuses a body whose id is %s, and not that of the path', async (id, reason) => {
  await daemon.create('{"id":3,"name":"Elm"}')

  const message = await expectError(await put(3n, `{"id":${id},"name":"Yew"}`), 40002)

  expect(message).toStartWith(reason)
  expect(stored(3n)?.name).toBe('Elm')
  expect(stored(4n)).toBeUndefined()
})

test('does not replace a missing plant', async () => {
  expect(await expectError(await put(5n, '{"name":"Box"}'), 40402)).toBe(
    'no plant has this id; send If-None-Match: * to create it',
  )
  expect(stored(5n)).toBeUndefined()
})

test.each([
  ['{"name":null}', 40002, 'name: '],
  ['{"tag":"a"}', 40002, 'name is missing'],
  ['{"name":"a","tag":null}', 40002, 'tag: '],
  ['{"name":"a\\u0000"}', 40002, 'name: '],
  ['[]', 40002, 'the body: '],
  ['{"name":', 40001, 'the body '],
] as const)('does not replace a plant by %s', async (body, error, message) => {
  await daemon.create('{"id":6,"name":"Bay","tag":"laurel"}')

  expect(await expectError(await put(6n, body), error)).toStartWith(message)
  expect(stored(6n)).toEqual({ id: 6n, name: 'Bay', tag: 'laurel' })
})

test('deletes a plant once', async () => {
  await daemon.create('{"id":7,"name":"Fig"}')

  const answer = await remove(7n)

  expect(answer.status).toBe(204)
  expect(await answer.text()).toBe('')
  expect(stored(7n)).toBeUndefined()
  await expectError(await remove(7n), 40402)
})

test('creates a plant again that was deleted', async () => {
  await daemon.create('{"id":8,"name":"Ivy"}')
  await remove(8n)

  expect((await daemon.create('{"id":8,"name":"Hop"}')).status).toBe(200)
  expect(stored(8n)?.name).toBe('Hop')
})

test('deletes a plant for exactly one of many simultaneous requests', async () => {
  await daemon.create('{"id":9,"name":"Tea"}')
  await daemon.create('{"id":10,"name":"Cocoa"}')

  const answers = await Promise.all(Array.from({ length: 20 }, () => remove(9n)))

  expect(answers.map(({ status }) => status).sort()).toEqual([204, ...Array(19).fill(404)])
  expect(stored(10n)?.name).toBe('Cocoa')
})
