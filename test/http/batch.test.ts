import { expect, test } from 'bun:test'
import { ownDaemon } from '../harness/own-daemon'
import { expectError, storedPlants } from '../harness/plants'

const { daemon, database } = ownDaemon()

const batch = (body: string) => daemon.fetch('/plants/batch', { method: 'POST', body })
const numbered = (from: number, count: number) =>
  JSON.stringify({
    plants: Array.from({ length: count }, (_, index) => ({ id: from + index, name: 'Moss' })),
  })

/** Expects that a batch is refused, and that the store is as it was. */
async function expectRefused(body: string, error: 40001 | 40002 | 40901 | 40902) {
  const before = storedPlants(database)
  const message = await expectError(await batch(body), error)
  expect(storedPlants(database)).toEqual(before)
  return message
}

test('creates all plants, with their exact ids', async () => {
  const answer = await batch(
    `{"plants":[{"id":9223372036854775807,"name":"Rose"},
       {"id":-9223372036854775808,"name":"Oak","tag":"tree","x":{"id":"y"}},
       {"id":9007199254740993,"name":""},{"id":1e0,"name":"Fern","tag":""}],"x":1}`,
  )

  expect(answer.status).toBe(200)
  expect(answer.headers.get('content-type')).toBe('application/json')
  expect(await answer.text()).toBe('{"created":4}')
  expect(storedPlants(database)).toEqual([
    { id: -9223372036854775808n, name: 'Oak', tag: 'tree' },
    { id: 1n, name: 'Fern', tag: '' },
    { id: 9007199254740993n, name: '', tag: null },
    { id: 9223372036854775807n, name: 'Rose', tag: null },
  ])
})

test('creates 1 to 1000 plants, and no more', async () => {
  expect(await (await batch(numbered(1000, 1))).text()).toBe('{"created":1}')
  expect(await (await batch(numbered(2000, 1000))).text()).toBe('{"created":1000}')
  const messages = [
    await expectRefused(numbered(5000, 1001), 40002),
    await expectRefused('{"plants":[]}', 40002),
    await expectRefused('{"plants":{}}', 40002),
    await expectRefused('{"plants":null}', 40002),
  ]
  expect(await expectRefused('{}', 40002)).toBe('plants is missing')

  for (const message of messages) expect(message).toContain('1 to 1000 plants')
})

test.each(['', '[{"id":10,"name":"a"}]', '{"plants":[{"id":10,"name":"a"}]', '5', 'null'])(
  'refuses %j',
  async (body) => {
    const isJson = body === '5' || body === 'null' || body.endsWith('}]')
    await expectRefused(body, isJson && !body.startsWith('{') ? 40002 : 40001)
  },
)

test('creates none if one exists with other fields, and names it', async () => {
  await daemon.create('{"id":9007199254740995,"name":"Yew"}')
  const message = await expectRefused(
    '{"plants":[{"id":20,"name":"a"},{"id":9007199254740995,"name":"Box"},{"id":21,"name":"c"}]}',
    40902,
  )

  expect(message).toContain('plants[1]')
  expect(message).toContain('9007199254740995')
})

test('creates none if one exists with the same fields, and names it', async () => {
  await daemon.create('{"id":30,"name":"Yew"}')
  const message = await expectRefused(
    '{"plants":[{"id":31,"name":"a"},{"id":32,"name":"b"},{"id":30,"name":"Yew"}]}',
    40901,
  )

  expect(message).toContain('plants[2]')
  expect(message).toContain('id 30')
})

test('creates none if it repeats an id, and names both places', async () => {
  const big = '{"id":9223372036854775807,"name":"a"}'
  const other = '{"id":9223372036854775806,"name":"a"}'

  for (const name of ['a', 'b']) {
    const again = `{"id":9223372036854775807,"name":"${name}"}`
    expect(await expectRefused(`{"plants":[${other},${big},${again}]}`, 40002)).toBe(
      'plants[2].id (id 9223372036854775807): expected another id than plants[1]',
    )
  }
})

test('names each repeated id, up to ten', async () => {
  const plants = (ids: readonly number[]) =>
    JSON.stringify({ plants: ids.map((id) => ({ id, name: 'a' })) })

  expect(await expectRefused(plants([40, 41, 40, 41, 40]), 40002)).toBe(
    [
      'plants[2].id (id 40): expected another id than plants[0]',
      'plants[3].id (id 41): expected another id than plants[1]',
      'plants[4].id (id 40): expected another id than plants[0]',
    ].join('; '),
  )
  expect(await expectRefused(plants(Array(1000).fill(40)), 40002)).toEndWith(
    'plants[10].id (id 40): expected another id than plants[0]; and more',
  )
})

test('refuses a repeated id, taken or not', async () => {
  await daemon.create('{"id":45,"name":"a"}')
  const same = '{"id":45,"name":"a"}'

  expect(await expectRefused(`{"plants":[${same},${same}]}`, 40002)).toContain('plants[0]')
})

test('creates none if some are invalid, and names each with its position and id', async () => {
  const message = await expectRefused(
    '{"plants":[{"id":50,"name":"a"},{"id":9007199254740993,"name":5},{"id":"x","name":"a"},7]}',
    40002,
  )

  expect(message).toContain('plants[1].name (id 9007199254740993): expected')
  expect(message).toContain('plants[2].id: expected')
  expect(message).toContain('plants[3]')
})

test.each(['short', 'long'])(
  'a %s batch refuses an object or a list as a field',
  async (length) => {
    const spaces = length === 'long' ? ' '.repeat(100_000) : ''

    for (const field of ['"id":{},"name":"Yew"', '"id":7,"name":{"x":1}', '"id":7,"name":[{}]']) {
      await expectRefused(`{"plants":[{${field}}]${spaces}}`, 40002)
    }
  },
)

test('a batch is all or nothing beside other creates', async () => {
  const singles = Array.from({ length: 50 }, (_, index) =>
    daemon.create(`{"id":${6000 + index * 2},"name":"Reed"}`),
  )
  const batches = Array.from({ length: 5 }, () => batch(numbered(6000, 100)))

  const created = (await Promise.all(singles)).filter(({ status }) => status === 200).length
  const answers = await Promise.all(batches)

  const plants = storedPlants(database).filter(({ id }) => id >= 6000n && id < 6100n)
  const whole = answers.filter(({ status }) => status === 200).length
  // Either a batch came before every single create, or none had room.
  expect(whole).toBe(created === 0 ? 1 : 0)
  expect(plants).toHaveLength(created === 0 ? 100 : created)
})

test('a batch can be sent again until one attempt lands', async () => {
  const tries = await Promise.all(Array.from({ length: 10 }, () => batch(numbered(7000, 10))))

  expect(tries.filter(({ status }) => status === 200)).toHaveLength(1)
  for (const answer of tries) if (answer.status !== 200) await expectError(answer, 40901)
  expect(storedPlants(database).filter(({ id }) => id >= 7000n && id < 7010n)).toHaveLength(10)
})
