import { expect } from 'bun:test'
import type { Plant } from '../../src/plant/plant'
import {
  ORDERS,
  type Order,
  type PlantQuery,
  type TagCount,
  type TagPage,
} from '../../src/plant/plants'
import type { Store } from '../../src/store'
import { createContract } from '../harness/contract'
import { filtersWith, matches } from '../harness/filters'
import { range, type TestedStore } from '../harness/tested-store'

const MIN = -(2n ** 63n)

const inOrder = <T>(order: Order, ascending: readonly T[]): T[] =>
  order === 'asc' ? [...ascending] : ascending.toReversed()

/** The part of the contract that speaks of many plants. */
export const listsContract = createContract<TestedStore>()
const { test } = listsContract

for (const order of ORDERS) {
  test(`a page of long plants ends before its limit, and none is left out: ${order}`, async ({
    store,
  }) => {
    const name = 'x'.repeat(400_000)
    for (const { id } of range(0, 7)) await store.createPlant({ id, name, tag: 't' })
    const pages: bigint[][] = []
    let after: bigint | null = null
    do {
      const tag = pages.length % 2 ? undefined : 't'
      const page = await store.listPlants({ after, limit: 5, tag, order })
      pages.push(page.plants.map(({ id }) => id))
      after = page.next
    } while (after !== null)

    expect(pages.flat()).toEqual(inOrder(order, [0n, 1n, 2n, 3n, 4n, 5n, 6n]))
    for (const page of pages) expect(page.length).toBeLessThan(5)
    const one = await store.listPlants({ limit: 1, order })
    expect(one.plants).toHaveLength(1)
  })
}

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
    expect(after).not.toBe('')
    pages += 1
  } while (after !== null)
  return { found, pages }
}

test('a search finds every part of a name, and ignores only the case of A to Z', async ({
  store,
}) => {
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
    for (const filter of filtersWith([name])) {
      const expected = plants.filter((plant) => matches(filter, plant))
      for (const limit of [1, 2, 1000]) {
        for (const order of ORDERS) {
          const { found } = await search(store, { limit, ...filter, order })
          expect({ filter, found }).toEqual({ filter, found: inOrder(order, expected) })
        }
      }
    }
  }
})

for (const order of ORDERS) {
  test(`a page has 5000 plants, or 1000 of a tag, and none is left out: ${order}`, async ({
    store,
  }) => {
    const rare = [0n, 4999n, 5000n, 5001n, 9999n, 10_000n, 11_999n]
    const plants = range(0, 12_000).map(({ id }) => ({
      id,
      name: rare.includes(id) ? 'A rare one' : 'common',
      tag: id % 2n ? 'odd' : 'even',
    }))
    for (let start = 0; start < plants.length; start += 1000) {
      await store.createPlants(plants.slice(start, start + 1000))
    }
    const all = await search(store, { limit: 1000, names: ['RARE'], order })
    expect(all.found.map(({ id }) => id)).toEqual(inOrder(order, rare))
    expect(all.pages).toBe(3)
    const none = await search(store, { limit: 1, tag: 'odd', names: ['rarer'], order })
    expect(none).toEqual({ found: [], pages: 6 })
    for (const limit of [1, 2, 3]) {
      const { found } = await search(store, { limit, tag: 'even', names: ['rare'], order })
      const even = rare.filter((id) => id % 2n === 0n)
      expect(found.map(({ id }) => id)).toEqual(inOrder(order, even))
    }
  })
}

for (const order of ORDERS) {
  test(`a search among long names ends early: ${order}`, async ({ store }) => {
    for (const { id } of range(0, 4)) {
      await store.createPlant({ id, name: `${'x'.repeat(300_000)}${id}` })
    }
    const last = order === 'asc' ? 3n : 0n
    const query = { limit: 10, names: [`x${last}`], order }
    const { found, pages } = await search(store, query)
    expect(found.map(({ id }) => id)).toEqual([last])
    expect(pages).toBe(4)
  })
}

/** The tags of every page, and the number of pages. */
async function readTags(store: Store, limit: number, from: string | null = null) {
  const found: TagCount[] = []
  let pages = 0
  let after = from
  do {
    const page: TagPage = await store.listTags({ limit, after })
    expect(page.tags.length).toBeLessThanOrEqual(limit)
    found.push(...page.tags)
    after = page.next
    expect(after).not.toBe('')
    pages += 1
  } while (after !== null)
  return { found, pages }
}

test('the tags are counted in the order of code points, from any text on', async ({ store }) => {
  const long = 'x'.repeat(199)
  // Sorted by code points: UTF-16 would sort U+1F335 before U+FF5E.
  const tags = [
    ...['', ' ', '%', 'A', 'B', 'a', 'a\u0301', 'aroid', 'aroid ', 'b', 'x'],
    ...['', 'a', 'b', 'b1', 'ba', 'bb', 'c'].map((end) => `${long}${end}`),
    ...[`${'x'.repeat(1000)}`, `${'x'.repeat(1000)}y`, 'y', '\u00e1', '\ud7ff', '\uff5e'],
    ...['\u{1F335}', `${'\u{1F335}'.repeat(200)}a`, `${'\u{1F335}'.repeat(200)}b`, '\u{10FFFF}'],
  ].sort((a, b) => Buffer.compare(Buffer.from(a), Buffer.from(b)))
  const counts = tags.map((tag, index) => ({ tag, plants: (index % 3) + 1 }))
  const tagged = counts.flatMap(({ tag, plants }) => Array<string>(plants).fill(tag))
  const plants: Plant[] = [
    ...tagged.map((tag, index) => ({ id: BigInt(index * 37 - 500), name: '', tag })),
    { id: MIN, name: 'without a tag' },
  ]
  expect(await readTags(store, 10)).toEqual({ found: [], pages: 1 })
  await store.createPlants(plants)

  expect(await readTags(store, 1)).toEqual({ found: counts, pages: counts.length })
  expect((await readTags(store, 7)).found).toEqual(counts)
  expect(await readTags(store, counts.length)).toEqual({ found: counts, pages: 1 })
  for (const after of [...tags, ...tags.map((tag) => `${tag}!`), `${long}0`, '\u{10FFFF}z']) {
    const [at, of] = [Buffer.from(after), (tag: string) => Buffer.from(tag)]
    const expected = counts.filter(({ tag }) => Buffer.compare(of(tag), at) > 0)
    expect({ after, found: (await readTags(store, 5, after)).found }).toEqual({
      after,
      found: expected,
    })
  }
})

test('the count of a tag of thousands of plants is exact', async ({ store }) => {
  const plants = range(-6000, 12_001).map((plant) => ({
    ...plant,
    tag: plant.id === 6000n ? 'rare' : plant.id < -1000n ? 'exact' : 'common',
  }))
  for (let start = 0; start < plants.length; start += 1000)
    await store.createPlants(plants.slice(start, start + 1000))

  expect(await store.listTags({ limit: 3 })).toEqual({
    tags: [
      { tag: 'common', plants: 7000 },
      { tag: 'exact', plants: 5000 },
      { tag: 'rare', plants: 1 },
    ],
    next: null,
  })
})

test('the list of tags continues after a long tag, whatever follows it', async ({ store }) => {
  const long = 'x'.repeat(1500)
  const ends = [
    '',
    'a',
    'a\u{10FFFF}',
    'a\u{10FFFF}\u{10FFFF}',
    'ab',
    'b',
    '\uff5e',
    '\u{1F335}',
    '\u{10FFFF}',
  ]
  const tags = ends
    .map((end) => `${long}${end}`)
    .sort((a, b) => Buffer.compare(Buffer.from(a), Buffer.from(b)))
  const plants = [...tags, 'y'].map((tag, index) => ({ id: BigInt(index), name: '', tag }))
  await store.createPlants(plants)

  for (const limit of [1, 2, 3]) {
    const { found } = await readTags(store, limit)
    expect(found.map(({ tag }) => tag)).toEqual([...tags, 'y'])
  }
})

test('a page of long tags ends before its limit, and none is left out', async ({ store }) => {
  const tags = ['a', 'b', 'c', 'd', 'e'].map((letter) => letter.repeat(200_000))
  for (const [index, tag] of tags.entries())
    await store.createPlant({ id: BigInt(index), name: '', tag })

  const { found, pages } = await readTags(store, 5)

  expect(found.map(({ tag }) => tag)).toEqual(tags)
  expect(pages).toBe(3)
  // Short enough for a URL.
  expect((await store.listTags({ limit: 2 })).next).toBe('b\u{10FFFF}')
})
