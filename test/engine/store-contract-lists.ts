import { expect, test } from 'bun:test'
import type { NewPlant } from '../../src/plant/plant'
import type { PlantQuery, Store } from '../../src/store'
import { range, type TestedStore } from '../harness/tested-store'

const MIN = -(2n ** 63n)
const MAX = 2n ** 63n - 1n

/** The part of the contract that speaks of many plants. */
export function testLists(open: () => Promise<TestedStore>): void {
  test('lists the plants above an id, at most so many, with a tag if one is given', async () => {
    await using tested = await open()
    const { store } = tested
    const plants: NewPlant[] = [
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

  test('ends a page of long plants before its limit, and leaves none out', async () => {
    await using tested = await open()
    const { store } = tested
    const name = 'x'.repeat(400_000)
    for (const { id } of range(0, 7)) await store.createPlant({ id, name, tag: 't' })
    const pages: bigint[][] = []
    let after: bigint | null = null
    do {
      const tag = pages.length % 2 ? null : 't'
      const page = await store.listPlants({ after, limit: 5, tag, name: null })
      pages.push(page.plants.map(({ id }) => id))
      after = page.next
    } while (after !== null)

    expect(pages.flat()).toEqual([0n, 1n, 2n, 3n, 4n, 5n, 6n])
    for (const page of pages) expect(page.length).toBeLessThan(5)
    const one = await store.listPlants({ after: null, limit: 1, tag: null, name: null })
    expect(one.plants).toHaveLength(1)
  })

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
    const found: NewPlant[] = []
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
          const { found } = await search(store, { limit, tag, name })
          expect({ name, tag, found }).toEqual({ name, tag, found: expected })
        }
      }
    }
  })

  test('walks some thousand plants a page, and leaves none out', async () => {
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
    const all = await search(store, { limit: 1000, tag: null, name: 'RARE' })
    expect(all.found.map(({ id }) => id)).toEqual(rare)
    expect(all.pages).toBe(3)
    const none = await search(store, { limit: 1, tag: 'odd', name: 'rarer' })
    expect(none).toEqual({ found: [], pages: 2 })
    for (const limit of [1, 2, 3]) {
      const { found } = await search(store, { limit, tag: 'even', name: 'rare' })
      expect(found.map(({ id }) => id)).toEqual(rare.filter((id) => id % 2n === 0n))
    }
  })

  test('ends a search among long names before they take long', async () => {
    await using tested = await open()
    const { store } = tested
    for (const { id } of range(0, 4)) {
      await store.createPlant({ id, name: `${'x'.repeat(300_000)}${id}` })
    }
    const { found, pages } = await search(store, { limit: 10, tag: null, name: 'x3' })
    expect(found.map(({ id }) => id)).toEqual([3n])
    expect(pages).toBe(4)
  })
}
