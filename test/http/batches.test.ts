// The rules of every list of plants in one request: its length, repeated ids and wrong plants.
import { describe, expect, test } from 'bun:test'
import { ownDaemon } from '../harness/own-daemon'
import { expectError, storedPlants } from '../harness/plants'

const { daemon, database } = ownDaemon()

const BATCHES = [
  ['POST', '/plants/batch'],
  ['PUT', '/plants/batch'],
  ['PATCH', '/plants/batch'],
  ['POST', '/plants/batch-delete'],
] as const

const moss = (ids: readonly number[]) =>
  `{"plants":[${ids.map((id) => `{"id":${id},"name":"Moss"}`)}]}`
const range = (from: number, count: number) =>
  moss(Array.from({ length: count }, (_, index) => from + index))

test('a batch may have 1,000 plants', async () => {
  const responses = []
  for (const [method, path] of BATCHES) {
    const response = await daemon.fetch(path, { method, body: range(1000, 1000) })
    responses.push(await response.json())
  }

  expect(responses).toMatchObject([
    { created: 1000 },
    { unchanged: 1000 },
    { unchanged: 1000 },
    { deleted: 1000 },
  ])
})

describe.each(BATCHES)('%s %s', (method, path) => {
  /** Resolves to the message of a refusal that has changed nothing. */
  async function refusalOf(body: string): Promise<string> {
    await daemon.create(30, 'Moss')
    const before = storedPlants(database)
    const message = await expectError(await daemon.fetch(path, { method, body }), 40002)
    expect(storedPlants(database)).toEqual(before)
    return message
  }

  test('refuses more than 1,000 plants, and none', async () => {
    for (const body of [range(30, 1001), '{"plants":[]}', '{"plants":{}}', '{"plants":null}']) {
      expect(await refusalOf(body)).toContain('1 to 1000 plants')
    }
    expect(await refusalOf('{}')).toBe('plants is missing')
  })

  test('refuses repeated ids, and names the places of up to ten', async () => {
    expect(await refusalOf(moss([31, 30, 31, 30]))).toBe(
      'plants[2].id (id 31): expected another id than plants[0]; plants[3].id (id 30): expected another id than plants[1]',
    )
    const big = '{"id":9223372036854775807,"name":"a"}'
    expect(await refusalOf(`{"plants":[${big},${big.replace('7,', '6,')},${big}]}`)).toBe(
      'plants[2].id (id 9223372036854775807): expected another id than plants[0]',
    )
    expect(await refusalOf(moss(Array(1000).fill(30)))).toEndWith(
      'plants[10].id (id 30): expected another id than plants[0]; and more',
    )
  })

  test('refuses wrong plants, and names each with its place and id, in a short and a long body', async () => {
    const plants =
      '{"id":31,"name":"a"},{"id":9007199254740993,"name":5},{"id":"x","name":"a"},{"id":32,"name":[{}]},7'
    for (const spaces of ['', ' '.repeat(100_000)]) {
      const message = await refusalOf(`{"plants":[${plants}]${spaces}}`)

      expect(message).toContain('plants[1].name (id 9007199254740993): expected')
      expect(message).toContain('plants[2].id: expected')
      expect(message).toContain('plants[3].name (id 32): expected')
      expect(message).toContain('plants[4]')
    }
  })
})
