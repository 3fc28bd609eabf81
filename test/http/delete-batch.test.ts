import { expect, test } from 'bun:test'
import { ownDaemon } from '../harness/own-daemon'
import { expectError, storedPlants } from '../harness/plants'

const { daemon, database, stored } = ownDaemon()

const batchDelete = (body: string) => daemon.fetch('/plants/batch-delete', { method: 'POST', body })
const numbered = (from: number, count: number, name = 'Moss') =>
  JSON.stringify({
    plants: Array.from({ length: count }, (_, index) => ({ id: from + index, name })),
  })
const create = async (body: string) =>
  expect((await daemon.fetch('/plants/batch', { method: 'POST', body })).status).toBe(200)

test('deletes unchanged plants, and names the others', async () => {
  await create(`{"plants":[{"id":9007199254740993,"name":"Rose","tag":"shrub"},{"id":2,"name":"Oak"},
    {"id":-9223372036854775808,"name":"Elm"},{"id":3,"name":"Yew","tag":""}]}`)
  const before = await daemon.metric('plantstore_plants')

  const answer = await batchDelete(`{"plants":[{"id":2,"name":"Oak","x":1},{"id":3,"name":"Yew"},
    {"id":-9223372036854775808,"name":"elm"},{"id":9223372036854775807,"name":"Oak"},
    {"id":9007199254740993,"name":"Rose","tag":"shrub"}],"x":1}`)
  expect(answer.status).toBe(200)
  expect(answer.headers.get('content-type')).toBe('application/json')
  expect(await answer.text()).toBe(
    '{"deleted":2,"conflicts":[{"id":3},{"id":-9223372036854775808}],"missing":[{"id":9223372036854775807}]}',
  )
  expect([2n, 9007199254740993n].map(stored)).toEqual([undefined, undefined])
  expect(stored(3n)).toEqual({ id: 3n, name: 'Yew', tag: '' })
  expect(await daemon.metric('plantstore_plants')).toBe(before - 2)
})

test('deletes 1 to 1000 plants, and no more; they can be created again', async () => {
  await create(numbered(1000, 1000))
  const all = { deleted: 1000, conflicts: [], missing: [] }
  expect(await (await batchDelete(numbered(1000, 1000))).json()).toEqual(all)
  await create(numbered(1000, 1000))
  const before = storedPlants(database)
  for (const body of [numbered(1000, 1001), '{"plants":[]}', '{"plants":{}}']) {
    expect(await expectError(await batchDelete(body), 40002)).toContain('1 to 1000 plants')
  }
  await expectError(await batchDelete('{"plants":['), 40001)
  expect(storedPlants(database)).toEqual(before)
})

test('deletes nothing of a batch that repeats an id or has a wrong plant', async () => {
  await create('{"plants":[{"id":30,"name":"Yew"},{"id":31,"name":"Box"}]}')
  const before = storedPlants(database)
  const sent = '{"id":30,"name":"Yew"},{"id":31,"name":"Box"}'

  expect(
    await expectError(await batchDelete(`{"plants":[${sent},{"id":31,"name":"x"}]}`), 40002),
  ).toBe('plants[2].id (id 31): expected another id than plants[1]')
  const wrong = await batchDelete(`{"plants":[${sent},{"id":32}]}`)
  expect(await expectError(wrong, 40002)).toContain('plants[2].name (id 32)')
  expect(storedPlants(database)).toEqual(before)
})

test('of many requests that delete the same plants, exactly one deletes each', async () => {
  await create(numbered(6000, 50))
  const answers = await Promise.all(
    Array.from({ length: 20 }, async (_, index) =>
      (await batchDelete(numbered(5990 + index * 5, 20))).json(),
    ),
  )

  const deleted = answers.map((answer) => (answer as { deleted: number }).deleted)
  expect(deleted.reduce((sum, count) => sum + count, 0)).toBe(50)
  expect(storedPlants(database).filter(({ id }) => id >= 6000n && id < 6050n)).toEqual([])
})
