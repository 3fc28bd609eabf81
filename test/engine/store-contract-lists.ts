import { expect, test } from 'bun:test'
import type { Plant } from '../../src/plant/plant'
import { ORDERS, type Order, type PlantQuery } from '../../src/plant/plants'
import type { Store } from '../../src/store'
import { range, type TestedStore } from '../harness/tested-store'

const MIN = -(2n ** 63n)
const MAX = 2n ** 63n - 1n

const DESCENDING = { order: 'desc', tag: null, name: null } as const

const inOrder = <T>(order: Order, ascending: readonly T[]): T[] =>
  order === 'asc' ? [...ascending] : ascending.toReversed()

/** The part of the contract that speaks of many plants. */
export function testLists(open: () => Promise<TestedStore>): void {
  test('lists the plants above an id, at most so many, with a tag if one is given', async () => {
    await using tested = await open()
    const { store } = tested
    const plants: Plant[] = [
      { id: MIN, name: 'a', tag: 'x' },
      { id: -1n, name: 'b' },
      { id: 0n, name: 'c', tag: 'x' },
      { id: 9007199254740993n, name: 'd', tag: '' },
      { id: MAX, name: 'e', tag: 'x' },
    ]
    await store.createPlants(plants.toReversed())
    const names = async (after: bigint | null, limit: number, tag: string | null) =>
      (await store.listPlants({ after, limit, tag, name: null })).plants
        .map(({ name }) => name)
        .join('')

    expect(await names(null, 10, null)).toBe('abcde')
    expect(await names(null, 2, null)).toBe('ab')
    expect(await names(MIN, 2, null)).toBe('bc')
    expect(await names(9007199254740992n, 10, null)).toBe('de')
    expect(await names(9007199254740993n, 10, null)).toBe('e')
    expect(await names(MAX, 10, null)).toBe('')
    expect(await names(null, 10, 'x')).toBe('ace')
    expect(await names(MIN, 1, 'x')).toBe('c')
    expect(await names(0n, 10, 'x')).toBe('e')
    expect(await names(null, 10, '')).toBe('d')
    expect(await names(null, 10, 'X')).toBe('')
  })

  test('lists the plants below an id with descending ids, exactly at both ends of the range', async () => {
    await using tested = await open()
    const { store } = tested
    const plants: Plant[] = [
      { id: MIN, name: 'a', tag: 'x' },
      { id: MIN + 1n, name: 'b' },
      { id: -1n, name: 'c', tag: 'x' },
      { id: 9007199254740992n, name: 'd', tag: 'x' },
      { id: 9007199254740993n, name: 'e', tag: '' },
      { id: MAX - 1n, name: 'f', tag: 'x' },
      { id: MAX, name: 'g' },
    ]
    await store.createPlants(plants)
    const list = async (after: bigint | null, limit: number, tag: string | null) => {
      const page = await store.listPlants({ after, limit, tag, name: null, order: 'desc' })
      return [page.plants.map(({ name }) => name).join(''), page.next]
    }

    expect(await list(null, 10, null)).toEqual(['gfedcba', null])
    expect(await list(null, 7, null)).toEqual(['gfedcba', null])
    expect(await list(null, 6, null)).toEqual(['gfedcb', MIN + 1n])
    expect(await list(MAX, 1, null)).toEqual(['f', MAX - 1n])
    expect(await list(MAX - 1n, 2, null)).toEqual(['ed', 9007199254740992n])
    expect(await list(9007199254740993n, 1, null)).toEqual(['d', 9007199254740992n])
    expect(await list(0n, 1, null)).toEqual(['c', -1n])
    expect(await list(MIN + 1n, 10, null)).toEqual(['a', null])
    expect(await list(MIN, 10, null)).toEqual(['', null])
    expect(await list(null, 2, 'x')).toEqual(['fd', 9007199254740992n])
    expect(await list(9007199254740992n, 10, 'x')).toEqual(['ca', null])
    expect(await list(MIN, 10, 'x')).toEqual(['', null])
    expect(await list(null, 10, '')).toEqual(['e', null])
    const found = await store.listPlants({ ...DESCENDING, after: MAX, limit: 2, name: '' })
    expect(found).toEqual({ plants: plants.slice(4, 6).toReversed(), next: 9007199254740993n })
    const least = await store.listPlants({ ...DESCENDING, after: MIN, limit: 1, name: 'a' })
    expect(least).toEqual({ plants: [], next: null })
  })

  test('keeps its place among descending ids while plants come and go', async () => {
    await using tested = await open()
    const { store } = tested
    await store.createPlants(range(0, 10))
    const first = await store.listPlants({ ...DESCENDING, after: null, limit: 4 })
    // The one at which the page ended, the next one, and some on both sides.
    for (const id of [6n, 5n, 8n]) await store.deletePlant(id)
    await store.createPlants([11n, 12n, -1n].map((id) => ({ id, name: 'new' })))
    await store.replacePlant({ id: 4n, name: 'changed' })
    const second = await store.listPlants({ ...DESCENDING, after: first.next, limit: 100 })

    expect(first.plants.map(({ id }) => id)).toEqual([9n, 8n, 7n, 6n])
    expect(second.plants.map(({ id }) => id)).toEqual([4n, 3n, 2n, 1n, 0n, -1n])
    expect(second).toMatchObject({ plants: [{ name: 'changed' }, {}, {}, {}, {}, {}], next: null })
  })

  test('tells whether there are more plants behind a page', async () => {
    await using tested = await open()
    const { store } = tested
    await store.createPlants(range(0, 3))
    const hasMore = async (after: bigint | null, limit: number) =>
      (await store.listPlants({ after, limit, tag: null, name: null })).next !== null

    expect(await hasMore(null, 2)).toBe(true)
    expect(await hasMore(null, 3)).toBe(false)
    expect(await hasMore(0n, 2)).toBe(false)
    expect(await hasMore(2n, 1)).toBe(false)
  })

  test.each(ORDERS)(
    'ends a page of long plants before its limit, and leaves none out: %s',
    async (order) => {
      await using tested = await open()
      const { store } = tested
      const name = 'x'.repeat(400_000)
      for (const { id } of range(0, 7)) await store.createPlant({ id, name, tag: 't' })
      const pages: bigint[][] = []
      let after: bigint | null = null
      do {
        const tag = pages.length % 2 ? null : 't'
        const page = await store.listPlants({ after, limit: 5, tag, name: null, order })
        pages.push(page.plants.map(({ id }) => id))
        after = page.next
      } while (after !== null)

      expect(pages.flat()).toEqual(inOrder(order, [0n, 1n, 2n, 3n, 4n, 5n, 6n]))
      for (const page of pages) expect(page.length).toBeLessThan(5)
      const one = await store.listPlants({ after: null, limit: 1, tag: null, name: null, order })
      expect(one.plants).toHaveLength(1)
    },
  )

  test('lists by tag what was replaced and deleted', async () => {
    await using tested = await open()
    const { store } = tested
    const tagged = async (tag: string) =>
      (await store.listPlants({ after: null, limit: 10, tag, name: null })).plants.map(
        ({ id }) => id,
      )
    await store.createPlants([1n, 2n, 3n].map((id) => ({ id, name: '', tag: 'a' })))
    await store.replacePlant({ id: 1n, name: '', tag: 'b' })
    await store.replacePlant({ id: 2n, name: '' })
    await store.deletePlant(3n)

    expect(await tagged('a')).toEqual([])
    expect(await tagged('b')).toEqual([1n])
  })

  /** The plants of every page of a search, and the number of pages. */
  async function search(store: Store, query: Omit<PlantQuery, 'after'>) {
    const found: Plant[] = []
    let pages = 0
    let after: bigint | null = null
    do {
      const page = await store.listPlants({ ...query, after })
      expect(page.plants.length).toBeLessThanOrEqual(query.limit)
      found.push(...page.plants)
      after = page.next
      pages += 1
    } while (after !== null)
    return { found, pages }
  }

  // ASCII only: the case of other letters counts, in every engine.
  const foldCase = (text: string) => text.replace(/[A-Z]/g, (letter) => letter.toLowerCase())

  test('finds every part of a name, and ignores the case of A to Z alone', async () => {
    await using tested = await open()
    const { store } = tested
    const names = [
      ...[
        '',
        'Monstera deliciosa',
        'MONSTERA',
        'monster',
        'a%b',
        'a_b',
        'a\\b',
        'aXb',
        '*',
        'É',
        'é',
      ],
      ...[
        'ß',
        'SS',
        'İ',
        'i',
        'ı',
        'K',
        'k',
        '\u212a',
        '\ud7ff',
        '\u{1F335}',
        '\u{10FFFF}',
        'á',
        'a\u0301',
      ],
    ]
    const plants = names.map((name, index) => ({
      id: BigInt(index) * 7919n - 3n,
      name,
      ...(index % 3 ? { tag: index % 2 ? 'x' : 'y' } : {}),
    }))
    await store.createPlants(plants)
    const parts = [...names, 'monSTERa', 'STERA DEL', '%', '_', '\\', 'b', 'ster', 'nothing']
    for (const name of parts) {
      for (const tag of [null, 'x', 'z']) {
        const expected = plants.filter(
          (plant) =>
            foldCase(plant.name).includes(foldCase(name)) && (tag === null || plant.tag === tag),
        )
        for (const limit of [1, 2, 1000]) {
          for (const order of ORDERS) {
            const { found } = await search(store, { limit, tag, name, order })
            expect({ name, tag, found }).toEqual({ name, tag, found: inOrder(order, expected) })
          }
        }
      }
    }
  })

  test.each(ORDERS)(
    'walks 5000 plants a page, or 1000 of a tag, and leaves none out: %s',
    async (order) => {
      await using tested = await open()
      const { store } = tested
      const rare = [0n, 4999n, 5000n, 5001n, 9999n, 10_000n, 11_999n]
      const plants = range(0, 12_000).map(({ id }) => ({
        id,
        name: rare.includes(id) ? 'A rare one' : 'common',
        tag: id % 2n ? 'odd' : 'even',
      }))
      for (let start = 0; start < plants.length; start += 1000) {
        await store.createPlants(plants.slice(start, start + 1000))
      }
      const all = await search(store, { limit: 1000, tag: null, name: 'RARE', order })
      expect(all.found.map(({ id }) => id)).toEqual(inOrder(order, rare))
      expect(all.pages).toBe(3)
      const none = await search(store, { limit: 1, tag: 'odd', name: 'rarer', order })
      expect(none).toEqual({ found: [], pages: 6 })
      for (const limit of [1, 2, 3]) {
        const { found } = await search(store, { limit, tag: 'even', name: 'rare', order })
        const even = rare.filter((id) => id % 2n === 0n)
        expect(found.map(({ id }) => id)).toEqual(inOrder(order, even))
      }
    },
  )

  test.each(ORDERS)('ends a search among long names before they take long: %s', async (order) => {
    await using tested = await open()
    const { store } = tested
    for (const { id } of range(0, 4)) {
      await store.createPlant({ id, name: `${'x'.repeat(300_000)}${id}` })
    }
    const last = order === 'asc' ? 3n : 0n
    const query = { limit: 10, tag: null, name: `x${last}`, order }
    const { found, pages } = await search(store, query)
    expect(found.map(({ id }) => id)).toEqual([last])
    expect(pages).toBe(4)
  })
}
