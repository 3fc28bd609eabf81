import { expect, test } from 'bun:test'
import type { NewPlant } from '../src/plant'
import { range, type TestedStore } from './harness/tested-store'

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
      (await store.listPlants({ after, limit, tag })).plants.map(({ name }) => name).join('')

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
      (await store.listPlants({ after, limit, tag: null })).hasMore

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
    for (let after: bigint | null = null, hasMore = true; hasMore; ) {
      const page = await store.listPlants({ after, limit: 5, tag: pages.length % 2 ? null : 't' })
      pages.push(page.plants.map(({ id }) => id))
      after = pages.at(-1)?.at(-1) ?? null
      hasMore = page.hasMore
    }

    expect(pages.flat()).toEqual([0n, 1n, 2n, 3n, 4n, 5n, 6n])
    for (const page of pages) expect(page.length).toBeLessThan(5)
    expect((await store.listPlants({ after: null, limit: 1, tag: null })).plants).toHaveLength(1)
  })

  test('lists by tag what was replaced and deleted', async () => {
    await using tested = await open()
    const { store } = tested
    const tagged = async (tag: string) =>
      (await store.listPlants({ after: null, limit: 10, tag })).plants.map(({ id }) => id)
    await store.createPlants([1n, 2n, 3n].map((id) => ({ id, name: '', tag: 'a' })))
    await store.replacePlant({ id: 1n, name: '', tag: 'b' })
    await store.replacePlant({ id: 2n, name: '' })
    await store.deletePlant(3n)

    expect(await tagged('a')).toEqual([])
    expect(await tagged('b')).toEqual([1n])
  })
}
