// The tags of the console with their numbers, as a real daemon counts them.
import { beforeAll, describe, expect, spyOn, test } from 'bun:test'
import { ownDaemon } from '../../harness/own-daemon'
import { openList } from './opened-list'

const PLANTS = 3000
const KINDS = 1200
const { daemon } = ownDaemon()

beforeAll(async () => {
  for (let first = 0; first < PLANTS; first += 1000) {
    const plants = Array.from({ length: 1000 }, (_, at) => {
      const id = first + at
      return { id, name: 'Moss', ...(id % 2 ? { tag: `kind ${id % (2 * KINDS)}` } : {}) }
    })
    expect((await daemon.fetch('/plants/batch', { json: { plants } })).status).toBe(200)
  }
})

/** The paths of the daemon that an action asks for. Another file's tests may still send requests elsewhere. */
async function requestsOf(act: () => Promise<void>): Promise<string[]> {
  using fetched = spyOn(globalThis, 'fetch')
  await act()
  return fetched.mock.calls
    .map(([url]) => new URL(String(url)))
    .filter(({ origin }) => origin === daemon.url)
    .map(({ pathname }) => pathname)
}

describe('the tags of the console', () => {
  test('are those of all plants, read in pages; no plant is read for them', async () => {
    const { list } = await openList(daemon)

    const asked = await requestsOf(() => list.tags.read())

    expect(asked).toEqual(['/tags', '/tags', '/status'])
    expect(list.tags.counts.size).toBe(KINDS)
    expect(list.tags.counts.get('kind 1')).toBe(2)
    expect(list.tags.counts.get('kind 2399')).toBe(1)
    expect(list.tags.tagCounts.value).toMatchObject({ untagged: PLANTS / 2, isPart: false })
  })

  test('are read again only after something may have changed', async () => {
    const { list } = await openList(daemon)
    await list.tags.read()
    expect(await requestsOf(() => list.tags.read())).toEqual([])

    await daemon.create(`{"id":${PLANTS},"name":"Fern","tag":"fern"}`)
    list.changeAll(new Map([[BigInt(PLANTS), { name: 'Fern', tag: 'fern' }]]))
    await list.tags.read()
    expect(list.tags.counts.get('fern')).toBe(1)

    await daemon.fetch(`/plants/${PLANTS}`, { method: 'DELETE' })
    list.setStoredCount(PLANTS)
    await list.tags.read()
    expect(list.tags.counts.has('fern')).toBeFalse()
  })

  test('are read again if they changed during the read', async () => {
    const { list } = await openList(daemon)
    const reading = list.tags.read()
    list.tags.markStale()
    await reading

    expect(await requestsOf(() => list.tags.read())).toContain('/tags')
  })

  test('are forgotten with the token, even those that are being read', async () => {
    const { list } = await openList(daemon)
    const reading = list.tags.read()
    list.close()
    await reading

    expect(list.tags.tagCounts.value).toBeNull()
  })
})
