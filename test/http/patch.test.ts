// PATCH of a plant, as JSON Merge Patch (RFC 7396).
import { expect, test } from 'bun:test'
import { ownDaemon } from '../harness/own-daemon'
import { expectError } from '../harness/plants'

const { daemon, stored, createToken } = ownDaemon()

const MERGE_PATCH = 'application/merge-patch+json'

const patch = (id: string | bigint, body: string, headers: Record<string, string> = {}) =>
  daemon.fetch(`/plants/${id}`, { method: 'PATCH', body, headers })

test.each([
  MERGE_PATCH,
  'application/json',
  `${MERGE_PATCH}; charset=utf-8`,
  'Application/Merge-Patch+JSON',
])(
  'changes the fields that a patch of type %s has, and answers the plant as it is stored',
  async (type) => {
    const id = 9223372036854775807n
    await daemon.create(`{"id":${id},"name":"Rose","tag":"shrub"}`)
    await patch(id, '{"name":"Rose","tag":"shrub"}')
    const change = (body: string) => patch(id, body, { 'content-type': type })

    const answer = await change('{"name":"Dog rose"}')
    expect(answer.status).toBe(200)
    expect(answer.headers.get('content-type')).toBe('application/json')
    expect(await answer.text()).toBe(`{"id":${id},"name":"Dog rose","tag":"shrub"}`)
    expect(stored(id)).toEqual({ id, name: 'Dog rose', tag: 'shrub' })

    expect(await (await change('{"tag":null}')).text()).toBe(`{"id":${id},"name":"Dog rose"}`)
    expect(stored(id)).toEqual({ id, name: 'Dog rose', tag: null })
    expect(await (await change('{"tag":null}')).text()).toBe(`{"id":${id},"name":"Dog rose"}`)
    expect(await (await change('{"tag":"","name":""}')).text()).toBe(
      `{"id":${id},"name":"","tag":""}`,
    )
    expect(await (await change('{}')).text()).toBe(`{"id":${id},"name":"","tag":""}`)
    expect(stored(id)).toEqual({ id, name: '', tag: '' })
  },
)

test.each([
  'application/json-patch+json',
  'text/plain',
  'application/merge-patch',
  'application/merge-patch+json; charset=latin1',
  'application/merge-patch+json, application/json',
])('the daemon refuses a patch of type %s, and names the accepted types', async (type) => {
  await daemon.create('{"id":8,"name":"Bay"}')

  const answer = await patch(8n, '{"name":"a"}', { 'content-type': type })

  expect(answer.headers.get('accept-patch')).toBe(`${MERGE_PATCH}, application/json`)
  expect(await expectError(answer, 41501)).toContain(MERGE_PATCH)
  expect(stored(8n)?.name).toBe('Bay')
})

test('the daemon refuses an encoded patch, and does not blame its type', async () => {
  const answer = await patch(8n, '{"name":"a"}', { 'content-encoding': 'gzip' })

  expect(answer.headers.get('accept-encoding')).toBe('identity')
  expect(answer.headers.has('accept-patch')).toBeFalse()
  await expectError(answer, 41501)
})

test('the daemon accepts a merge patch where a patch is expected, and nowhere else', async () => {
  const headers = { 'content-type': MERGE_PATCH }
  for (const [method, path] of [
    ['POST', '/plants'],
    ['PUT', '/plants/8'],
    ['POST', '/plants/batch'],
  ] as const) {
    const answer = await daemon.fetch(path, { method, headers, body: '{"id":8,"name":"a"}' })
    expect(answer.headers.has('accept-patch')).toBeFalse()
    await expectError(answer, 41501)
  }
})

test('the daemon does not patch a missing plant, nor with a read-only token', async () => {
  await expectError(await patch(404n, '{"name":"a"}'), 40402)
  await daemon.create('{"id":10,"name":"Bay"}')
  const reader = await createToken('reader', '--scope', 'read')
  const authorization = `Bearer ${reader}`
  await expectError(await patch(10n, '{"name":"a"}', { authorization }), 40301)
  await expectError(await patch('x', '{"name":"a"}'), 40002)
  expect(stored(10n)?.name).toBe('Bay')
})
