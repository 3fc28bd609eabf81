import { expect, test } from 'bun:test'
import { FIELDS, listWords, TEXT_FIELDS } from '../../src/plant/plant'
import { ownDaemon } from '../harness/own-daemon'
import { expectError, storedPlants } from '../harness/plants'

const { daemon, database, stored } = ownDaemon({ args: ['--keep-changes', '1d'] })

const patch = (body: string, type = 'application/json') =>
  daemon.fetch('/plants/batch', { method: 'PATCH', body, headers: { 'content-type': type } })

const WAS = listWords(TEXT_FIELDS, 'or')
const UPDATE = listWords([...FIELDS, 'was'], 'or')

type Page = { readonly changes: readonly { readonly action: string }[]; readonly next: string }
const changesAfter = async (after: string): Promise<Page> =>
  (await (await daemon.fetch(`/plants/changes?after=${after}`)).json()) as Page

test('changes the sent fields, creates named plants, and names those it leaves', async () => {
  await daemon.create('{"id":9007199254740993,"name":"Rose","tag":"shrub"}')
  await daemon.create('{"id":2,"name":"Oak"}')
  await daemon.create('{"id":3,"name":"Fern","tag":"shade"}')
  const before = await daemon.metric('plantstore_plants')
  const { next } = await changesAfter('now')

  const answer = await patch(`{"plants":[
    {"id":9007199254740993,"tag":null,"was":{"tag":"shrub"}},
    {"id":2,"name":"Elm","was":{"tag":"tree"}},
    {"id":3,"name":"Fern"},
    {"id":9223372036854775807,"name":"New"},
    {"id":-9223372036854775808,"tag":"new"}]}`)

  expect(answer.status).toBe(200)
  expect(answer.headers.get('content-type')).toBe('application/json')
  expect(await answer.text()).toBe(
    '{"created":1,"patched":1,"unchanged":1,"conflicts":[{"id":2}],"missing":[{"id":-9223372036854775808}]}',
  )
  expect(stored(9007199254740993n)).toMatchObject({ name: 'Rose', tag: null })
  expect(stored(2n)?.name).toBe('Oak')
  expect(stored(3n)).toMatchObject({ name: 'Fern', tag: 'shade' })
  expect(stored(9223372036854775807n)).toMatchObject({ name: 'New', tag: null })
  expect(await daemon.metric('plantstore_plants')).toBe(before + 1)
  const { changes } = await changesAfter(next)
  expect(changes.map(({ action }) => action)).toEqual(['patch', 'create'])
})

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
    await daemon.create('{"id":40,"name":"Ash"}')
    const before = storedPlants(database)
    const plants = `{"id":41,"name":"Box"},{"id":40,"name":"x",${field}}`

    for (const spaces of ['', ' '.repeat(100_000)]) {
      const answer = await patch(`{"plants":[${plants}]${spaces}}`)
      expect(await expectError(answer, 40002)).toBe(
        `plants[1]${place} (id 40): unknown field; use ${fields}`,
      )
    }
    expect(storedPlants(database)).toEqual(before)
  },
)

test('the daemon keeps the conditions of a long batch', async () => {
  await daemon.create('{"id":15,"name":"Ivy","tag":"shade"}')
  const spaces = ' '.repeat(100_000)

  const answer = await patch(
    `{"plants":[{"id":15,"tag":"sun","was":{"tag":"bog"}},{"id":16,"name":"Yew","was":{}}]${spaces}}`,
  )

  expect(await answer.json()).toMatchObject({
    created: 0,
    conflicts: [{ id: 15 }],
    missing: [{ id: 16 }],
  })
  expect(stored(15n)?.tag).toBe('shade')
})

test('the daemon creates no plant under a condition: a missing plant fails it', async () => {
  const answer = await patch('{"plants":[{"id":20,"name":"Yew","was":{}}]}')

  expect(await answer.json()).toMatchObject({ created: 0, missing: [{ id: 20 }] })
  expect(stored(20n)).toBeUndefined()
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
