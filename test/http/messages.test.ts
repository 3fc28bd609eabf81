// What a refusal says of a body: each wrong field, and what was expected.
import { beforeAll, expect, test } from 'bun:test'
import { FIELDS, listWords, TEXT_FIELDS } from '../../src/plant/plant'
import { PLANT_WORDS } from '../harness/fields'
import { ownDaemon } from '../harness/own-daemon'
import { expectError, storedPlants } from '../harness/plants'

const { daemon, database } = ownDaemon()
beforeAll(() => daemon.create(3, 'Elm', 'tree'))

const RULE = 'expected a string without U+0000 and without unpaired surrogates'
const INT64 = 'expected an integer from -9223372036854775808 to 9223372036854775807'
const OTHER_ID = 'id: must match the id in the path, or be left out'
const UNKNOWN = `the body: unknown field; use ${listWords(FIELDS, 'or')}`
const WHOLE = `the body: expected an object with ${PLANT_WORDS}, found`
const PATCH = `the body: expected an object with any of ${TEXT_FIELDS.join(', ')}, found`

test.each([
  ['POST', 'null', `${WHOLE} null`],
  ['POST', 'true', `${WHOLE} a boolean`],
  ['POST', '5', `${WHOLE} a number`],
  ['POST', '"a"', `${WHOLE} a string`],
  ['POST', '[{"id":200,"name":"a"}]', `${WHOLE} an array`],
  ['POST', '{"id":200,"name":null}', 'name: expected a string, found null'],
  ['POST', '{"id":200,"name":["a"]}', 'name: expected a string, found an array'],
  ['POST', '{"id":200,"name":"a","tag":5}', 'tag: expected a string, found a number'],
  ['POST', '{"id":200,"name":"\\u0000"}', `name: ${RULE}`],
  ['POST', '{"id":"200","name":"a"}', 'id: expected an integer, found a string'],
  ['POST', '{"id":{},"name":"a"}', 'id: expected an integer, found an object'],
  ['POST', '{"id":9223372036854775808,"name":"a"}', `id: ${INT64}`],
  [
    'POST',
    '{"id":1.5,"tag":5}',
    `name is missing; id: ${INT64}; tag: expected a string, found a number`,
  ],
  ['PUT', '{"id":4,"name":"Yew"}', OTHER_ID],
  ['PUT', '{"id":9007199254740993.5,"name":"Yew"}', `id: ${INT64}`],
  ['PUT', '{"tag":"a"}', 'name is missing'],
  ['PUT', '{"name":"a","tag":null}', 'tag: expected a string, found null'],
  ['PATCH', '{"id":7,"name":"a"}', OTHER_ID],
  ['PATCH', '{"nmae":"x"}', UNKNOWN],
  ['PATCH', '{"name":"x","Tag":null}', UNKNOWN],
  ['PATCH', '{"name":"x","was":{"name":"y"}}', UNKNOWN],
  ['PATCH', '{"name":"x","__proto__":{"tag":"y"}}', UNKNOWN],
  ['PATCH', '{"name":null}', 'name: expected a string, found null'],
  ['PATCH', '{"tag":5}', 'tag: expected a string or null, found a number'],
  ['PATCH', 'null', `${PATCH} null`],
])('%s %s is refused with the reason', async (method, body, message) => {
  const response = await daemon.fetch(method === 'POST' ? '/plants' : '/plants/3', { method, body })

  expect(await expectError(response, 40002)).toBe(message)
  expect(storedPlants(database)).toEqual([{ id: 3n, name: 'Elm', tag: 'tree' }])
})

test('a missing plant is not replaced, and the reason says how to create it', async () => {
  const response = await daemon.fetch('/plants/5', { method: 'PUT', body: '{"name":"Box"}' })

  expect(await expectError(response, 40402)).toBe(
    'no plant has this id; send If-None-Match: * to create it',
  )
})
