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
const MAX = 2n ** 63n - 1n

const DESCENDING = { order: 'desc' } as const

const inOrder = <T>(order: Order, ascending: readonly T[]): T[] =>
  order === 'asc' ? [...ascending] : ascending.toReversed()

/** The part of the contract that speaks of many plants. */
export const listsContract = createContract<TestedStore>()
const { test } = listsContract

test('lists the plants above an id, up to the limit, with the given tag', async ({ store }) => {
  const plants: Plant[] = [
    { id: MIN, name: 'a', tag: 'x' },
    { id: -1n, name: 'b' },
    { id: 0n, name: 'c', tag: 'x' },
    { id: 9007199254740993n, name: 'd', tag: '' },
    { id: MAX, name: 'e', tag: 'x' },
  ]
  await store.createPlants(plants.toReversed())
  const names = async (after: bigint | null, limit: number, tag?: string) =>
    (await store.listPlants({ after, limit, tag })).plants.map(({ name }) => name).join('')

  expect(await names(null, 10)).toBe('abcde')
  expect(await names(null, 2)).toBe('ab')
  expect(await names(MIN, 2)).toBe('bc')
  expect(await names(9007199254740992n, 10)).toBe('de')
  expect(await names(9007199254740993n, 10)).toBe('e')
  expect(await names(MAX, 10)).toBe('')
  expect(await names(null, 10, 'x')).toBe('ace')
  expect(await names(MIN, 1, 'x')).toBe('c')
  expect(await names(0n, 10, 'x')).toBe('e')
  expect(await names(null, 10, '')).toBe('d')
  expect(await names(null, 10, 'X')).toBe('')
})

test('lists the plants below an id with descending ids, exactly at both ends of the range', async ({
  store,
}) => {
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
  const list = async (after: bigint | null, limit: number, tag?: string) => {
    const page = await store.listPlants({ after, limit, tag, order: 'desc' })
    return [page.plants.map(({ name }) => name).join(''), page.next]
  }

  expect(await list(null, 10)).toEqual(['gfedcba', null])
  expect(await list(null, 7)).toEqual(['gfedcba', null])
  expect(await list(null, 6)).toEqual(['gfedcb', MIN + 1n])
  expect(await list(MAX, 1)).toEqual(['f', MAX - 1n])
  expect(await list(MAX - 1n, 2)).toEqual(['ed', 9007199254740992n])
  expect(await list(9007199254740993n, 1)).toEqual(['d', 9007199254740992n])
  expect(await list(0n, 1)).toEqual(['c', -1n])
  expect(await list(MIN + 1n, 10)).toEqual(['a', null])
  expect(await list(MIN, 10)).toEqual(['', null])
  expect(await list(null, 2, 'x')).toEqual(['fd', 9007199254740992n])
  expect(await list(9007199254740992n, 10, 'x')).toEqual(['ca', null])
  expect(await list(MIN, 10, 'x')).toEqual(['', null])
  expect(await list(null, 10, '')).toEqual(['e', null])
  const found = await store.listPlants({ ...DESCENDING, after: MAX, limit: 2, names: [''] })
  expect(found).toEqual({ plants: plants.slice(4, 6).toReversed(), next: 9007199254740993n })
  const least = await store.listPlants({ ...DESCENDING, after: MIN, limit: 1, names: ['a'] })
  expect(least).toEqual({ plants: [], next: null })
})

test('keeps its place among descending ids while plants are created and deleted', async ({
  store,
}) => {
  await store.createPlants(range(0, 10))
  const first = await store.listPlants({ ...DESCENDING, limit: 4 })
  // The one at which the page ended, the next one, and some on both sides.
  for (const id of [6n, 5n, 8n]) await store.deletePlant(id)
  await store.createPlants([11n, 12n, -1n].map((id) => ({ id, name: 'new' })))
  await store.replacePlant({ id: 4n, name: 'changed' })
  const second = await store.listPlants({ ...DESCENDING, after: first.next, limit: 100 })

  expect(first.plants.map(({ id }) => id)).toEqual([9n, 8n, 7n, 6n])
  expect(second.plants.map(({ id }) => id)).toEqual([4n, 3n, 2n, 1n, 0n, -1n])
  expect(second).toMatchObject({ plants: [{ name: 'changed' }, {}, {}, {}, {}, {}], next: null })
})

test('says whether more plants follow a page', async ({ store }) => {
  await store.createPlants(range(0, 3))
  const hasMore = async (after: bigint | null, limit: number) =>
    (await store.listPlants({ after, limit })).next !== null

  expect(await hasMore(null, 2)).toBe(true)
  expect(await hasMore(null, 3)).toBe(false)
  expect(await hasMore(0n, 2)).toBe(false)
  expect(await hasMore(2n, 1)).toBe(false)
})

for (const order of ORDERS) {
  test(`ends a page of long plants before its limit, and leaves none out: ${order}`, async ({
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

test('lists replaced and deleted plants by their tags', async ({ store }) => {
  const tagged = async (tag: string) =>
    (await store.listPlants({ limit: 10, tag })).plants.map(({ id }) => id)
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
    expect(after).not.toBe('')
    pages += 1
  } while (after !== null)
  return { found, pages }
}

test('finds every part of a name, and ignores the case of A to Z alone', async ({ store }) => {
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

test('finds plants with and without a tag, and every word of a name in any order', async ({
  store,
}) => {
  const plants: Plant[] = [
    { id: 1n, name: 'Rosa alba', tag: '' },
    { id: 2n, name: 'rosa canina' },
    { id: 3n, name: 'Alba, a white Rosa', tag: 'shrub' },
    { id: 4n, name: '' },
  ]
  await store.createPlants(plants)

  for (const filter of [...filtersWith(['alba', 'ROSA']), ...filtersWith(undefined)]) {
    const { found } = await search(store, { limit: 1, ...filter })
    expect({ filter, found }).toEqual({
      filter,
      found: plants.filter((plant) => matches(filter, plant)),
    })
  }
})

for (const order of ORDERS) {
  test(`walks 5000 plants a page, or 1000 of a tag, and leaves none out: ${order}`, async ({
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
  test(`ends a search among long names before they take long: ${order}`, async ({ store }) => {
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

test('counts the plants of each tag, in the order of code points, from any text on', async ({
  store,
}) => {
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

test('counts tags as they are after each change', async ({ store }) => {
  const counted = async () =>
    (await store.listTags({ limit: 10 })).tags.map(({ tag, plants }) => `${tag} ${plants}`)
  await store.createPlants([1n, 2n, 3n].map((id) => ({ id, name: '', tag: 'a' })))
  expect(await counted()).toEqual(['a 3'])
  await store.patchPlant(1n, { tag: 'b' })
  expect(await counted()).toEqual(['a 2', 'b 1'])
  await store.patchPlants([{ id: 2n, tag: null }])
  expect(await counted()).toEqual(['a 1', 'b 1'])
  await store.deletePlant(3n)
  await store.putPlants([{ id: 4n, name: '', tag: '' }])
  expect(await counted()).toEqual([' 1', 'b 1'])
})

test('counts a tag of thousands of plants exactly', async ({ store }) => {
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

test('continues after a long tag, whatever follows it', async ({ store }) => {
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

test('ends a page of long tags before its limit, and leaves none out', async ({ store }) => {
  const tags = ['a', 'b', 'c', 'd', 'e'].map((letter) => letter.repeat(200_000))
  for (const [index, tag] of tags.entries())
    await store.createPlant({ id: BigInt(index), name: '', tag })

  const { found, pages } = await readTags(store, 5)

  expect(found.map(({ tag }) => tag)).toEqual(tags)
  expect(pages).toBe(3)
  // Short enough for a URL.
  expect((await store.listTags({ limit: 2 })).next).toBe('b\u{10FFFF}')
})
