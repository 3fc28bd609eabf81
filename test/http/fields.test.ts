import { expect, test } from 'bun:test'
import { ownDaemon } from '../harness/own-daemon'
import { expectError } from '../harness/plants'

const { daemon, stored } = ownDaemon()

test.each([
  ['empty', ''],
  ['spaces', '  '],
  ['text beyond the basic plane', '🌵 Ὑάκινθος 百合 \u{10FFFF}'],
  ['control characters', '\t\r\n\b\u0001\u001f\u007f'],
  ['noncharacters', '\uFFFE\uFFFF'],
  ['a byte order mark', '\uFEFFa'],
  ['both forms of the same letter', 'é e\u0301'],
  ['what looks like SQL, JSON and HTML', `'; DROP TABLE plants; -- {"a":1} <script>`],
  ['100,000 characters', 'ö'.repeat(100_000)],
])('keeps a name and a tag exactly: %s', async (_, text) => {
  const id = BigInt(Bun.hash.crc32(text))
  const answer = await daemon.fetch('/plants', { json: { id: Number(id), name: text, tag: text } })

  expect(answer.status).toBe(200)
  expect(await answer.json()).toEqual({ name: text, tag: text })
  expect(stored(id)).toEqual({ id, name: text, tag: text })
})

test.each([
  ['a field that is unknown', '{"id":1,"name":"a","colour":"green"}', 1n],
  ['an id within it', '{"id":2,"name":"a","x":{"id":9223372036854775808}}', 2n],
  ['an unknown field plants', '{"id":3,"name":"a","plants":[{"id":9007199254740993},5]}', 3n],
  ['constructor and toString', '{"id":4,"name":"a","constructor":1,"toString":2}', 4n],
  ['__proto__', '{"id":5,"name":"a","__proto__":{"tag":"b"}}', 5n],
  ['__proto__ of null', '{"__proto__":null,"id":6,"name":"a"}', 6n],
  ['__proto__ with an id that is not safe', '{"id":7,"name":"a","__proto__":{"id":1e300}}', 7n],
])('ignores %s', async (_, body, id) => {
  const answer = await daemon.create(body)

  expect(answer.status).toBe(200)
  expect(await answer.text()).toBe('{"name":"a"}')
  expect(stored(id)).toEqual({ id, name: 'a', tag: null })
})

test.each([
  '{"id":50,"__proto__":{"name":"a"}}',
  '{"__proto__":{"id":50,"name":"a"}}',
  '{"name":"a","__proto__":{"id":50}}',
  '{"id":50,"Name":"a"}',
])('accepts no other field for a required one: %s', async (body) => {
  await expectError(await daemon.create(body), 40002)

  expect(stored(50n)).toBeUndefined()
})

test('counts the last of repeated fields', async () => {
  const body = '{"id":9223372036854775808,"name":5,"id":60,"name":"b","tag":"x","tag":"y"}'
  const answer = await daemon.create(body)

  expect(answer.status).toBe(200)
  expect(stored(60n)).toEqual({ id: 60n, name: 'b', tag: 'y' })
})

test.each(['{"id":61,"name":"b","id":"61"}', '{"id":61,"name":"b","name":null}'])(
  'refuses a repeated field whose last value is wrong: %s',
  async (body) => {
    await expectError(await daemon.create(body), 40002)

    expect(stored(61n)).toBeUndefined()
  },
)

test('reads ids beside numbers of unknown fields exactly', async () => {
  const body = '{"id":9007199254740993,"name":"a","height":1.50,"seeds":1e999}'

  expect((await daemon.create(body)).status).toBe(200)
  expect(stored(9007199254740993n)?.name).toBe('a')
})
