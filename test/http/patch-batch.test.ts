import { expect, test } from 'bun:test'
import { FIELDS, listWords, TEXT_FIELDS } from '../../src/plant/plant'
import { ownDaemon } from '../harness/own-daemon'
import { expectError, storedPlants } from '../harness/plants'

const { daemon, database, stored } = ownDaemon()

const patch = (body: string, type = 'application/json') =>
  daemon.fetch('/plants/batch', { method: 'PATCH', body, headers: { 'content-type': type } })

const WAS = listWords(TEXT_FIELDS, 'or')
const UPDATE = listWords([...FIELDS, 'was'], 'or')

test('the daemon accepts plain JSON alone: RFC 7396 does not describe a list of patches', async () => {
  const body = '{"plants":[{"id":10,"name":"Ash"}]}'

  for (const type of ['application/merge-patch+json', 'application/json-patch+json']) {
    const message = await expectError(await patch(body, type), 41501)
    expect(message).toContain('"Content-Type: application/json"')
  }
  expect(stored(10n)).toBeUndefined()
  expect((await patch(body)).status).toBe(200)
})

test.each([
  ['"was":{"Name":"y"}', '.was', WAS],
  ['"was":{"name":"Ash","x":1}', '.was', WAS],
  ['"was":{"id":40}', '.was', WAS],
  ['"was":{"__proto__":{"name":"y"}}', '.was', WAS],
  ['"Was":{"name":"y"}', '', UPDATE],
  ['"__proto__":{"was":{"name":"y"}}', '', UPDATE],
])(
  'the daemon refuses %s as unknown, in a short and in a long batch',
  async (field, place, fields) => {
    await daemon.create(40, 'Ash')
    const before = storedPlants(database)
    const plants = `{"id":41,"name":"Box"},{"id":40,"name":"x",${field}}`

    for (const spaces of ['', ' '.repeat(100_000)]) {
      const response = await patch(`{"plants":[${plants}]${spaces}}`)
      expect(await expectError(response, 40002)).toBe(
        `plants[1]${place} (id 40): unknown field; use ${fields}`,
      )
    }
    expect(storedPlants(database)).toEqual(before)
  },
)

test('the daemon keeps the conditions of a long batch', async () => {
  await daemon.create(15, 'Ivy', 'shade')
  const spaces = ' '.repeat(100_000)

  const response = await patch(
    `{"plants":[{"id":15,"tag":"sun","was":{"tag":"bog"}},{"id":16,"name":"Yew","was":{}}]${spaces}}`,
  )

  expect(await response.json()).toMatchObject({
    created: 0,
    conflicts: [{ id: 15 }],
    missing: [{ id: 16 }],
  })
  expect(stored(15n)?.tag).toBe('shade')
})

test('the daemon refuses a wrong field or condition, and a condition beside the list', async () => {
  const before = storedPlants(database)
  const wrong: [string, string][] = [
    ['"plants":[{"id":31,"name":null}]', 'plants[0].name (id 31): expected'],
    ['"plants":[{"id":31,"was":null}]', 'plants[0].was (id 31): expected'],
    ['"plants":[{"id":31,"was":{"name":null}}]', 'plants[0].was.name'],
    ['"plants":[{"id":31,"was":{"tag":1}}]', 'plants[0].was.tag'],
    ['"plants":[{"name":"no id"}]', 'plants[0].id'],
    ['"plants":[{"id":42,"name":"Box"}],"was":{}', 'the body: unknown field; use plants'],
  ]

  for (const [body, message] of wrong) {
    expect(await expectError(await patch(`{${body}}`), 40002)).toContain(message)
  }
  expect(storedPlants(database)).toEqual(before)
})
