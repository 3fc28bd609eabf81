// The plants of the console's table, from a real daemon: all of them, or the first ones of a long list.

import { beforeAll, describe, expect, spyOn, test } from 'bun:test'
import { effect } from '@preact/signals'
import { BY_ID, comparatorOf, type Sort, sortInSlices } from '../../../src/web/console/sort'
import { describeFound } from '../../../src/web/console/toolbar/describe-found'
import type { Daemon } from '../../harness/daemon'
import { ownDaemon } from '../../harness/own-daemon'
import { until } from '../../harness/until'
import { numbered, openList as openAny, requestsOf } from './opened-list'

// More plants than the page sorts.
const PLANTS = 101_000
const NAMES = ['plant 10', 'Éclair', 'plant 9', 'zebra', 'eclipse', 'Aloe'] as const

const { daemon, createPlants } = ownDaemon()
const { daemon: small } = ownDaemon()
beforeAll(async () => {
  await createPlants(numbered(0, PLANTS, 'Rose'))
  for (const [at, name] of NAMES.entries()) {
    const tag = at % 2 ? { tag: `tag ${at}` } : {}
    await small.create(JSON.stringify({ id: at + 1, name, ...tag }))
  }
})

async function openList(of: Daemon, sort: Sort = BY_ID, query = {}) {
  const opened = await openAny(of, { sort, query })
  return {
    ...opened,
    /** Keeps the view at a row until the row is read. */
    async look(row: number): Promise<void> {
      const { list } = opened
      await until(`row ${row}`, () => {
        if (!list.rows.row(row)) list.reader.readAround(row + 15)
        return list.rows.row(row)
      })
    },
  }
}

const LAST = PLANTS - 1

describe('a partly loaded list', () => {
  test('loads more as its end nears, without a gap, and shows the total', async () => {
    const { list, look } = await openList(daemon)
    list.setStoredCount(PLANTS)
    expect(list.rows.count.value).toBe(250)
    expect(describeFound(list)).toBe(
      'The first 250 of 101,000 plants; a search or a filter finds any',
    )
    list.reader.readAround(100)

    expect(await requestsOf(daemon, () => look(1200))).toHaveLength(1)

    expect(list.rows.heldPlants().map(({ id }) => id)).toEqual(
      Array.from({ length: 1250 }, (_, id) => BigInt(id)),
    )
    expect(list.rows.isComplete.value).toBeFalse()
    list.close()
    list.setStoredCount(PLANTS)
    expect(describeFound(list)).toBe('')
  })

  test('rereads the rows that come into view after a refresh', async () => {
    const { list, look } = await openList(daemon)
    list.setStoredCount(PLANTS)
    await look(3000)
    await daemon.fetch('/plants/2900', { method: 'PATCH', json: { name: 'Lily' } })
    list.refresh()
    expect(list.rows.row(2900)?.name).toBe('Rose 2900')
    await until('the stored name', () => {
      list.reader.readAround(2910)
      return list.rows.row(2900)?.name === 'Lily'
    })
    expect(list.rows.count.value).toBe(3250)
    await daemon.fetch('/plants/2900', { method: 'PATCH', json: { name: 'Rose 2900' } })
  })

  test('shows the newest plants first if ids descend', async () => {
    const { list, look, views } = await openList(daemon)
    expect(await requestsOf(daemon, () => list.sortBy('id'))).toHaveLength(1)
    list.setStoredCount(PLANTS)

    expect(views).toEqual(['id', '-id'])
    expect([list.rows.row(0)?.id, list.rows.row(1)?.id]).toEqual([BigInt(LAST), BigInt(LAST - 1)])
    await look(400)
    expect(list.rows.row(400)?.id).toBe(BigInt(LAST - 400))
    list.put({ id: BigInt(PLANTS + 5), name: 'Newest' })
    expect(list.rows.row(0)?.name).toBe('Newest')
  })

  test('is not sorted by name if it has more than 100,000 plants, and says why', async () => {
    const { list, said, views, look } = await openList(daemon, { by: 'name', isDescending: false })

    expect(list.sort.value).toEqual(BY_ID)
    expect(list.rows.isTooLong.value).toBeTrue()
    expect(said).toEqual(['Sorting by name works up to 100,000 plants. Search for something first'])
    expect(views).toEqual(['name', 'id'])
    expect(await requestsOf(daemon, () => list.sortBy('tag'))).toHaveLength(0)
    await look(0)
    expect(list.rows.row(0)?.id).toBe(0n)
  })
})

describe('a list of at most 100,000 stored plants', () => {
  test('is read whole after its first page, with a few redraws', async () => {
    const { list } = await openList(daemon, BY_ID, { name: 'Rose' })
    const pages = spyOn(list.rows, 'take')
    let draws = 0
    const stop = effect(() => {
      list.rows.version.value
      draws += 1
    })
    const started = performance.now()
    // Fewer plants than are stored, as if some had been added since the count.
    list.setStoredCount(60_000)
    await until('the end', () => list.rows.byId().length > 50_000)
    const seconds = (performance.now() - started) / 1000
    stop()

    expect(pages.mock.calls.length).toBeGreaterThan(49)
    expect(draws).toBeLessThan(10 + 4 * seconds)
    list.close()
  })

  test('is left to the service if it turns out to be longer', async () => {
    const { list, said } = await openList(daemon)
    list.setStoredCount(100_000)
    await until('the end', () => !list.isShort)

    expect(list.rows.isTooLong.value).toBeTrue()
    expect(said).toEqual([])
    expect(await requestsOf(daemon, () => list.show({ name: 'Lily' }))).toHaveLength(1)
    list.close()
  })
})

describe('a sorted list', () => {
  test('sorts numbers and accents in names naturally, in both directions', async () => {
    const { list, names } = await openList(small, { by: 'name', isDescending: false })
    const sorted = ['Aloe', 'Éclair', 'eclipse', 'plant 9', 'plant 10', 'zebra']
    expect(names()).toEqual(sorted)

    await list.sortBy('name')

    expect(names()).toEqual(sorted.toReversed())
    expect(list.rows.rowOf(4n)).toBe(0)
  })

  test('has plants without a tag last, in both directions', async () => {
    const { list, names } = await openList(small)
    await list.sortBy('tag')
    expect(names()).toEqual(['Éclair', 'zebra', 'Aloe', 'eclipse', 'plant 9', 'plant 10'])

    await list.sortBy('tag')

    expect(names()).toEqual(['Aloe', 'zebra', 'Éclair', 'eclipse', 'plant 9', 'plant 10'])
  })

  test('keeps its order when plants are added, changed and removed', async () => {
    const { list, names } = await openList(small, { by: 'name', isDescending: false })

    list.changeAll(new Map([[9n, { name: 'basil' }]]))
    list.changeAll(new Map([[4n, { name: 'apple' }]]))
    list.changeAll(new Map([[5n, null]]))
    list.showPending(new Map([[1n, null]]))

    expect(names()).toEqual(['Aloe', 'apple', 'basil', 'Éclair', 'plant 9'])
    expect(list.rows.count.value).toBe(5)
    expect(list.rows.neighbours(9n).map((plant) => plant?.name)).toEqual(['apple', 'Éclair'])
    await list.sortBy('id')
    expect(names()).toEqual(['Éclair', 'plant 9', 'apple', 'Aloe', 'basil'])
  })

  test('shows what changed while it was read', async () => {
    const { list, names } = await openList(small, BY_ID, { name: 'nothing' })
    const opening = list.open({ query: {}, sort: { by: 'name', isDescending: false } })

    list.changeAll(new Map([[6n, { name: 'Yucca' }]]))
    await opening

    expect(names()).toEqual(['Éclair', 'eclipse', 'plant 9', 'plant 10', 'Yucca', 'zebra'])
  })

  test('is sorted without blocking the page', async () => {
    const plants = Array.from({ length: 50_000 }, (_, at) => ({
      id: BigInt(at),
      name: `plänt ${(at * 7919) % 50_000}`,
    }))
    let turns = 0
    const timer = setInterval(() => {
      turns += 1
    }, 1)

    const sorted = await sortInSlices(plants, comparatorOf({ by: 'name', isDescending: false }))
    clearInterval(timer)

    expect(sorted.map(({ name }) => name).slice(0, 3)).toEqual(['plänt 0', 'plänt 1', 'plänt 2'])
    expect(new Set(sorted).size).toBe(50_000)
    expect(turns).toBeGreaterThan(5)
  })
})
