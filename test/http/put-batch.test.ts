import { expect, test } from 'bun:test'
import { ownDaemon } from '../harness/own-daemon'
import { expectError, storedPlants } from '../harness/plants'

const { daemon, database, stored } = ownDaemon({ args: ['--keep-changes', '1d'] })

const put = (body: string) => daemon.fetch('/plants/batch', { method: 'PUT', body })
const numbered = (from: number, count: number, name = 'Moss') =>
  JSON.stringify({
    plants: Array.from({ length: count }, (_, index) => ({ id: from + index, name })),
  })
const lastCursor = async (): Promise<string> => {
  const { next } = (await (await daemon.fetch('/plants/changes?after=now')).json()) as {
    next: string
  }
  return next
}

test('creates new plants, replaces different ones, and leaves the others', async () => {
  await daemon.create('{"id":9007199254740993,"name":"Rose","tag":"shrub"}')
  await daemon.create('{"id":2,"name":"Oak"}')
  const before = await daemon.metric('plantstore_plants')
  const body = `{"plants":[{"id":2,"name":"Oak"},{"id":9223372036854775807,"name":""},
    {"id":9007199254740993,"name":"Rose","x":1}],"x":1}`

  const answer = await put(body)
  expect(answer.status).toBe(200)
  expect(answer.headers.get('content-type')).toBe('application/json')
  expect(await answer.text()).toBe('{"created":1,"replaced":1,"unchanged":1}')
  expect(stored(9007199254740993n)?.tag).toBeNull()
  expect(stored(9223372036854775807n)?.name).toBe('')
  expect(await daemon.metric('plantstore_plants')).toBe(before + 1)

  const cursor = await lastCursor()
  expect(await (await put(body)).text()).toBe('{"created":0,"replaced":0,"unchanged":3}')
  expect(await lastCursor()).toBe(cursor)
})

test('puts 1 to 1000 plants, and no more', async () => {
  expect(await (await put(numbered(1000, 1000))).json()).toMatchObject({ created: 1000 })
  expect(await (await put(numbered(1500, 1000))).json()).toEqual({
    created: 500,
    replaced: 0,
    unchanged: 500,
  })
  for (const body of [numbered(5000, 1001), '{"plants":[]}', '{"plants":{}}']) {
    expect(await expectError(await put(body), 40002)).toContain('1 to 1000 plants')
  }
  await expectError(await put('{"plants":['), 40001)
})

test('stores nothing of a batch that repeats an id or has a wrong plant', async () => {
  await daemon.create('{"id":30,"name":"Yew"}')
  const before = storedPlants(database)
  const cursor = await lastCursor()
  const change = '{"id":30,"name":"Box"},{"id":31,"name":"Box"}'

  const repeated = await put(`{"plants":[${change},{"id":31,"name":"Box"}]}`)
  expect(await expectError(repeated, 40002)).toBe(
    'plants[2].id (id 31): expected another id than plants[1]',
  )
  const wrong = await put(`{"plants":[${change},{"id":32,"name":null}]}`)
  expect(await expectError(wrong, 40002)).toContain('plants[2].name (id 32): expected')
  expect(storedPlants(database)).toEqual(before)
  expect(await lastCursor()).toBe(cursor)
})

test('a batch is all or nothing beside other changes of the same plants', async () => {
  await Promise.all(
    Array.from({ length: 20 }, (_, index) => put(numbered(6000, 50, `Reed ${index}`))),
  )

  const names = new Set(
    storedPlants(database).flatMap(({ id, name }) => (id >= 6000n && id < 6050n ? [name] : [])),
  )
  expect(names.size).toBe(1)
})
