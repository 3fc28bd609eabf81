// The console's tags with their counts, from a real daemon.
import { beforeAll, describe, expect, test } from 'bun:test'
import { ownDaemon } from '../../harness/own-daemon'
import { numbered, openList, requestsOf } from './opened-list'

const PLANTS = 3000
const KINDS = 1200
const { daemon, createPlants } = ownDaemon()

beforeAll(() =>
  createPlants(
    numbered(0, PLANTS).map((plant, id) =>
      id % 2 ? { ...plant, tag: `kind ${id % (2 * KINDS)}` } : plant,
    ),
  ),
)

describe('the tags of the console', () => {
  test('are read in pages, without reading any plant', async () => {
    const { list } = await openList(daemon)

    const asked = await requestsOf(daemon, () => list.tags.read())

    expect(asked.map((path) => path.split('?')[0])).toEqual(['/tags', '/tags', '/status'])
    expect(list.tags.counts.size).toBe(KINDS)
    expect(list.tags.counts.get('kind 1')).toBe(2)
    expect(list.tags.counts.get('kind 2399')).toBe(1)
    expect(list.tags.tagCounts.value).toMatchObject({ untagged: PLANTS / 2, isPart: false })
  })

  test('are read again only if they may have changed', async () => {
    const { list } = await openList(daemon)
    await list.tags.read()
    expect(await requestsOf(daemon, () => list.tags.read())).toEqual([])

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

    expect(await requestsOf(daemon, () => list.tags.read())).not.toEqual([])
  })

  test('are forgotten with the token, even during a read', async () => {
    const { list } = await openList(daemon)
    const reading = list.tags.read()
    list.close()
    await reading

    expect(list.tags.tagCounts.value).toBeNull()
  })
})
