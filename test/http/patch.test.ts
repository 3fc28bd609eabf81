// PATCH of a plant, as JSON Merge Patch (RFC 7396).
import { expect, test } from 'bun:test'
import { ownDaemon } from '../harness/own-daemon'
import { expectError } from '../harness/plants'

const { daemon, stored } = ownDaemon()

const MERGE_PATCH = 'application/merge-patch+json'

const patch = (id: string | bigint, body: string, headers: Record<string, string> = {}) =>
  daemon.fetch(`/plants/${id}`, { method: 'PATCH', body, headers })

test.each([
  MERGE_PATCH,
  'application/json',
  `${MERGE_PATCH}; charset=utf-8`,
  'Application/Merge-Patch+JSON',
])('a patch of type %s changes the fields that it has, and removes those of null', async (type) => {
  const id = 9223372036854775807n
  await daemon.create(id)
  await patch(id, '{"name":"Rose","tag":"shrub"}')

  const response = await patch(id, '{"tag":null}', { 'content-type': type })

  expect([response.status, await response.text()]).toEqual([200, `{"id":${id},"name":"Rose"}`])
  expect(stored(id)).toEqual({ id, name: 'Rose', tag: null })
})

test.each([
  'application/json-patch+json',
  'text/plain',
  'application/merge-patch',
  'application/merge-patch+json; charset=latin1',
  'application/merge-patch+json, application/json',
])('the daemon refuses a patch of type %s, and names the accepted types', async (type) => {
  await daemon.create(8, 'Bay')

  const response = await patch(8n, '{"name":"a"}', { 'content-type': type })

  expect(response.headers.get('accept-patch')).toBe(`${MERGE_PATCH}, application/json`)
  expect(await expectError(response, 41501)).toContain(MERGE_PATCH)
  expect(stored(8n)?.name).toBe('Bay')
})

test('the daemon refuses an encoded patch, and does not blame its type', async () => {
  const response = await patch(8n, '{"name":"a"}', { 'content-encoding': 'gzip' })

  expect(response.headers.get('accept-encoding')).toBe('identity')
  expect(response.headers.has('accept-patch')).toBeFalse()
  await expectError(response, 41501)
})
