import { expect, test } from 'bun:test'
import { PLANT_WORDS } from '../harness/fields'
import { ownDaemon } from '../harness/own-daemon'
import { expectError, storedPlants } from '../harness/plants'

const { daemon, database, stored } = ownDaemon()

/** Expects that a body is refused, and that the store is as it was. */
async function expectRefused(body: string | Uint8Array, error: 40001 | 40002 | 40901 | 40902) {
  const before = storedPlants(database)
  const answer = await daemon.fetch('/plants', { method: 'POST', body })
  const message = await expectError(answer, error)
  expect(storedPlants(database)).toEqual(before)
  return message
}

test('creates a plant, and answers its name and tag alone', async () => {
  const answer = await daemon.create('{"id":100,"name":"Monstera","tag":"aroid","x":1}')

  expect(answer.status).toBe(200)
  expect(answer.headers.get('content-type')).toBe('application/json')
  expect(await answer.text()).toBe('{"name":"Monstera","tag":"aroid"}')
  expect(stored(100n)).toEqual({ id: 100n, name: 'Monstera', tag: 'aroid' })
})

test('answers without a tag if none was sent', async () => {
  const answer = await daemon.create('{"id":101,"name":"Fern"}')

  expect(answer.status).toBe(200)
  expect(await answer.text()).toBe('{"name":"Fern"}')
  expect(stored(101n)).toEqual({ id: 101n, name: 'Fern', tag: null })
})

test.each([
  ['-9223372036854775808', -9223372036854775808n],
  ['-9007199254740993', -9007199254740993n],
  ['-1', -1n],
  ['0', 0n],
  ['9007199254740993', 9007199254740993n],
  ['9223372036854775807', 9223372036854775807n],
  ['2.0', 2n],
  ['3e3', 3000n],
  ['4.5e1', 45n],
  ['500E-2', 5n],
  ['9.223372036854775806e18', 9223372036854775806n],
])('keeps the id %s exactly, in and out', async (text, id) => {
  expect((await daemon.create(`{"id":${text},"name":"Exact"}`)).status).toBe(200)

  expect(stored(id)).toEqual({ id, name: 'Exact', tag: null })
  const read = await daemon.fetch(`/plants/${id}`)
  expect(await read.text()).toBe(`{"id":${id},"name":"Exact"}`)
})

test.each([
  '9223372036854775808',
  '-9223372036854775809',
  '9223372036854775807.5',
  '9223372036854775807e1',
  '1e19',
  '1e400',
  '1.5',
  '1e-1',
  '"5"',
  '""',
  'null',
  'true',
  '[1]',
  '{}',
])('refuses the id %s', async (id) => {
  expect(await expectRefused(`{"id":${id},"name":"a"}`, 40002)).toStartWith('id: expected')
})

test.each(['null', '5', 'true', '["a"]', '{}', '"a\\u0000b"', '"\\ud800"', '"a\\udc00b"'])(
  'refuses %s as a name and as a tag',
  async (value) => {
    expect(await expectRefused(`{"id":200,"name":${value}}`, 40002)).toStartWith('name: expected')
    const message = await expectRefused(`{"id":200,"name":"a","tag":${value}}`, 40002)
    expect(message).toStartWith('tag: expected')
  },
)

test.each([
  '',
  ' ',
  'plants',
  '{"id":200,"name":"a"',
  '{"id":200,"name":"a"}}',
  '{"id":200,"name":"a",}',
  "{'id':200,'name':'a'}",
  '{"id":0x10,"name":"a"}',
  '{"id":0200,"name":"a"}',
  '{"id":NaN,"name":"a"}',
  '{"id":200,"name":"a\nb"}',
])('refuses %j, which is not JSON', async (body) => {
  await expectRefused(body, 40001)
})

test('refuses a body that is not UTF-8', async () => {
  await expectRefused(Buffer.from('{"id":200,"name":"\xe9"}', 'latin1'), 40001)
  await expectRefused(Buffer.from('{"id":200,"name":"a"}', 'utf16le'), 40001)
})

test('accepts a byte order mark, as Windows writes', async () => {
  const answer = await daemon.create('\ufeff{"id":299,"name":"a"}')

  expect(answer.status).toBe(200)
  expect(stored(299n)).toEqual({ id: 299n, name: 'a', tag: null })
})

test.each([
  ['null', 'null'],
  ['true', 'a boolean'],
  ['5', 'a number'],
  ['"a"', 'a string'],
  ['[{"id":200,"name":"a"}]', 'an array'],
])('refuses %s, which is not an object', async (body, found) => {
  expect(await expectRefused(body, 40002)).toBe(
    `the body: expected an object with ${PLANT_WORDS}, found ${found}`,
  )
})

const RULE = 'expected a string without U+0000 and without unpaired surrogates'
const INT64 = 'expected an integer from -9223372036854775808 to 9223372036854775807'

test.each([
  ['{"id":200,"name":null}', 'name: expected a string, found null'],
  ['{"id":200,"name":["a"]}', 'name: expected a string, found an array'],
  ['{"id":200,"name":"a","tag":5}', 'tag: expected a string, found a number'],
  ['{"id":200,"name":"\\u0000"}', `name: ${RULE}`],
  ['{"id":"200","name":"a"}', 'id: expected an integer, found a string'],
  ['{"id":null,"name":"a"}', 'id: expected an integer, found null'],
  ['{"id":{},"name":"a"}', 'id: expected an integer, found an object'],
  ['{"id":1.5,"name":"a"}', `id: ${INT64}`],
  ['{"id":9223372036854775808,"name":"a"}', `id: ${INT64}`],
])('says what is wrong with %s', async (body, message) => {
  expect(await expectRefused(body, 40002)).toBe(message)
})

test('names every wrong field in one message, and what was expected', async () => {
  const message = await expectRefused('{"id":1.5,"tag":null}', 40002)

  const fields = message.split('; ').map((part) => part.split(':')[0])
  expect(fields.sort()).toEqual(['id', 'name is missing', 'tag'])
  expect(message).toContain('-9223372036854775808 to 9223372036854775807')
  expect(message).toContain('a string')
})

test.each([
  'application/json; charset=utf-8',
  'application/json;charset="UTF-8"',
  'Application/JSON',
])('accepts a body that is sent as %s', async (type) => {
  const body = `{"id":${300 + type.length},"name":"a"}`
  const answer = await daemon.fetch('/plants', {
    method: 'POST',
    body,
    headers: { 'content-type': type },
  })

  expect(answer.status).toBe(200)
})
