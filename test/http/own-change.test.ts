import { expect, test } from 'bun:test'
import { ownDaemon } from '../harness/own-daemon'
import { expectError } from '../harness/plants'

const { daemon } = ownDaemon({ args: ['--keep-changes', '1d'] })
const HEADER = 'plantstore-cursor'

const cursorOf = async (path: string, method: string, json?: unknown) => {
  const response = await daemon.fetch(path, { method, json })
  expect(response.ok).toBeTrue()
  return response.headers.get(HEADER)
}
const end = async () =>
  ((await (await daemon.fetch('/plants/changes?after=now')).json()) as { next: string }).next

test('the response to every kind of change has its cursor', async () => {
  const plants = [{ id: 1, name: 'b' }]
  for (const [method, path, json] of [
    ['POST', '/plants', { id: 1, name: 'a' }],
    ['PUT', '/plants/1', { name: 'b' }],
    ['PATCH', '/plants/1', { name: 'c' }],
    ['PUT', '/plants/batch', { plants }],
    ['PATCH', '/plants/batch', { plants: [{ id: 1, tag: 't' }] }],
    ['DELETE', '/plants/1', undefined],
    ['POST', '/plants/batch', { plants }],
    ['POST', '/plants/batch-delete', { plants }],
  ] as const) {
    const before = await end()
    const cursor = await cursorOf(path, method, json)

    expect({ path, cursor }).toEqual({ path, cursor: await end() })
    expect(cursor).not.toBe(before)
  }
})

test('changes that share a commit have a cursor that includes each', async () => {
  const ids = Array.from({ length: 64 }, (_, index) => 100 + index)
  const cursors = await Promise.all(ids.map((id) => cursorOf('/plants', 'POST', { id, name: 'a' })))

  for (const [index, cursor] of cursors.entries()) {
    const response = await daemon.fetch(`/plants/changes?after=${cursor}&limit=1000`)
    const { changes } = (await response.json()) as { changes: { id: number }[] }
    expect(changes.map(({ id }) => id)).not.toContain(ids[index] ?? 0)
  }
})

test('a refusal and a read have no cursor, and the primary answers a read at once', async () => {
  const refused = await daemon.create('{"id":1}')
  await expectError(refused, 40002)
  const headers = { [HEADER]: '5d1be2a07c93f648-999999999' }
  const read = await daemon.fetch('/plants', { headers })

  expect(refused.headers.has(HEADER)).toBeFalse()
  expect(read.status).toBe(200)
  expect(read.headers.has(HEADER)).toBeFalse()
})
