// Plants of a file that replace stored ones, with a real daemon.
import { expect, spyOn, test } from 'bun:test'
import { replacePlants } from '../../../src/web/console/import/replace-plants'
import { ownDaemon } from '../../harness/own-daemon'
import { openList } from './opened-list'

const { daemon, stored } = ownDaemon()
const PLANTS = 500
const MAX_BODY = 2048
const { daemon: narrow } = ownDaemon({ args: ['--max-body-bytes', String(MAX_BODY)] })

test('plants whose ids come twice are sent in few requests, and the last ones stay', async () => {
  const { session } = await openList(daemon)
  const plants = Array.from({ length: 2 * PLANTS }, (_, at) => ({
    id: BigInt(at >> 1),
    name: at % 2 ? 'second' : 'first',
  }))
  using fetched = spyOn(globalThis, 'fetch')
  const { signal } = new AbortController()
  const rows = plants.map((plant) => ({ ...plant, update: plant }))
  const result = await replacePlants(session, rows, signal)

  expect(result).toMatchObject({
    ok: true,
    value: { created: PLANTS, replaced: PLANTS, known: 0, refused: [] },
  })
  expect(fetched.mock.calls.length).toBeLessThan(PLANTS / 50)
  expect(stored(7n)?.name).toBe('second')
})

test('plants beside one that is refused are stored, in requests that fit', async () => {
  const { session } = await openList(narrow)
  const plants = Array.from({ length: PLANTS }, (_, at) => ({
    id: BigInt(at),
    name: at === 7 ? 'x'.repeat(MAX_BODY) : `plant ${at}`,
  }))
  const { signal } = new AbortController()
  const rows = plants.map((plant) => ({ ...plant, update: plant }))
  const result = await replacePlants(session, rows, signal)

  expect(result).toMatchObject({
    ok: true,
    value: { created: PLANTS - 1, replaced: 0, known: 0, refused: [{ plant: { id: 7n } }] },
  })
})
