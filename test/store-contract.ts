import { describe, expect, setDefaultTimeout, test } from 'bun:test'
import { type ErrorNumber, PlantError } from '../src/errors'
import type { NewPlant } from '../src/plant'
import type { Store } from '../src/store'
import { PATIENCE_MS } from './daemon'
import { testTokens } from './store-contract-tokens'

/** An empty store of one engine. Disposing of it closes the store and removes what it kept. */
export type TestedStore = AsyncDisposable & {
  readonly store: Store
  /** Closes the store and opens the same data again: as after a restart. */
  reopen(): Promise<Store>
}

const MIN = -(2n ** 63n)
const MAX = 2n ** 63n - 1n

const range = (from: number, count: number): NewPlant[] =>
  Array.from({ length: count }, (_, index) => ({ id: BigInt(from + index), name: `n${index}` }))

/** Every plant of a store, page by page. */
export async function allPlants(store: Store): Promise<NewPlant[]> {
  const found: NewPlant[] = []
  for (;;) {
    const after = found.at(-1)?.id ?? null
    const page = await store.listPlants({ after, limit: 1000, tag: null })
    if (page.length === 0) return found
    found.push(...page)
  }
}

/** Expects a refusal with a number, and that the store is as it was; resolves to the message. */
async function refused(store: Store, error: ErrorNumber, change: () => Promise<void>) {
  const before = await allPlants(store)
  const reason = await change().then(
    () => null,
    (it: unknown) => it,
  )
  expect(reason).toBeInstanceOf(PlantError)
  expect(reason).toHaveProperty('error', error)
  expect(await allPlants(store)).toEqual(before)
  return reason instanceof PlantError ? reason.message : ''
}

/** The contract of `src/store.ts`, for an engine whose empty stores `open` makes. */
export function testStore(name: string, open: () => Promise<TestedStore>): void {
  describe(`a store in ${name}`, () => {
    setDefaultTimeout(PATIENCE_MS)
    testPlants(open)
    testLists(open)
    testOrder(open)
    testTokens(open)
  })
}

function testPlants(open: () => Promise<TestedStore>): void {
  test('keeps a plant exactly, and over a restart', async () => {
    await using tested = await open()
    const plants: NewPlant[] = [
      { id: MIN, name: '' },
      { id: -9007199254740993n, name: '🌵\u0001\uFFFF', tag: '' },
      { id: 0n, name: 'Rose', tag: `'; --` },
      { id: 9007199254740993n, name: 'ö'.repeat(100_000), tag: 'ö'.repeat(100_000) },
      { id: MAX, name: 'Oak', tag: 'tree' },
    ]
    for (const plant of plants) await tested.store.createPlant(plant)

    for (const plant of plants) expect(await tested.store.readPlant(plant.id)).toEqual(plant)
    expect(await tested.store.readPlant(1n)).toBeNull()
    expect(await tested.store.readPlant(9007199254740992n)).toBeNull()
    expect(await allPlants(tested.store)).toEqual(plants)
    expect(await allPlants(await tested.reopen())).toEqual(plants)
  })

  test('creates a plant once, and tells the same one from another', async () => {
    await using tested = await open()
    const { store } = tested
    await store.createPlant({ id: 1n, name: 'Rose', tag: 'shrub' })
    await store.createPlant({ id: 2n, name: 'Rose' })

    await refused(store, 40901, () => store.createPlant({ id: 1n, name: 'Rose', tag: 'shrub' }))
    await refused(store, 40901, () => store.createPlant({ id: 2n, name: 'Rose' }))
    await refused(store, 40902, () => store.createPlant({ id: 1n, name: 'rose', tag: 'shrub' }))
    await refused(store, 40902, () => store.createPlant({ id: 1n, name: 'Rose' }))
    await refused(store, 40902, () => store.createPlant({ id: 2n, name: 'Rose', tag: '' }))
  })

  test('creates all plants of a batch or none', async () => {
    await using tested = await open()
    const { store } = tested
    await store.createPlants(range(100, 1000))
    expect(await allPlants(store)).toHaveLength(1000)

    const other = { id: 200n, name: 'other' }
    const message = await refused(store, 40902, () =>
      store.createPlants([...range(0, 3), other, ...range(3, 3)]),
    )
    expect(message).toContain('plants[3]')
    expect(message).toContain('200')
    const again = () => store.createPlants([{ id: 1n, name: 'a' }, ...range(100, 1)])
    expect(await refused(store, 40901, again)).toContain('plants[1]')
    const twice = { id: 5n, name: 'a' }
    await refused(store, 40901, () => store.createPlants([twice, twice]))
    expect(await allPlants(await tested.reopen())).toHaveLength(1000)
  })

  test('replaces and deletes the plant that is there', async () => {
    await using tested = await open()
    const { store } = tested
    await store.createPlants([...range(1, 2), { id: MIN, name: 'min', tag: 'a' }])

    await store.replacePlant({ id: MIN, name: 'other' })
    await store.replacePlant({ id: 1n, name: 'n1', tag: 'b' })
    await store.deletePlant(2n)

    await refused(store, 40402, () => store.replacePlant({ id: 2n, name: 'a' }))
    await refused(store, 40402, () => store.deletePlant(2n))
    const left = [
      { id: MIN, name: 'other' },
      { id: 1n, name: 'n1', tag: 'b' },
    ]
    expect(await allPlants(store)).toEqual(left)
    expect(await allPlants(await tested.reopen())).toEqual(left)
  })
}

function testLists(open: () => Promise<TestedStore>): void {
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
      (await store.listPlants({ after, limit, tag })).map(({ name }) => name).join('')

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

  test('lists by tag what was replaced and deleted', async () => {
    await using tested = await open()
    const { store } = tested
    const tagged = async (tag: string) =>
      (await store.listPlants({ after: null, limit: 10, tag })).map(({ id }) => id)
    await store.createPlants([1n, 2n, 3n].map((id) => ({ id, name: '', tag: 'a' })))
    await store.replacePlant({ id: 1n, name: '', tag: 'b' })
    await store.replacePlant({ id: 2n, name: '' })
    await store.deletePlant(3n)

    expect(await tagged('a')).toEqual([])
    expect(await tagged('b')).toEqual([1n])
  })

  test('shows in a snapshot the plants as they were at one moment', async () => {
    await using tested = await open()
    const { store } = tested
    const plants = range(-1250, 2500)
    for (let at = 0; at < plants.length; at += 1000) {
      await store.createPlants(plants.slice(at, at + 1000))
    }
    const found: NewPlant[] = []
    for await (const part of store.snapshot()) {
      if (found.length === 0) {
        await store.createPlant({ id: 5000n, name: 'late' })
        await store.replacePlant({ id: 1249n, name: 'changed' })
        await store.deletePlant(1248n)
      }
      found.push(...part)
    }

    expect(found).toEqual(plants)
    expect(await store.readPlant(5000n)).toEqual({ id: 5000n, name: 'late' })
  })

  test('ends a snapshot that is left early', async () => {
    await using tested = await open()
    await tested.store.createPlants(range(0, 1000))
    for await (const part of tested.store.snapshot()) {
      expect(part.length).toBeGreaterThan(0)
      break
    }
    await tested.store.createPlants(range(1000, 1000))

    expect(await allPlants(await tested.reopen())).toHaveLength(2000)
  })
}

function testOrder(open: () => Promise<TestedStore>): void {
  test('makes changes in the order of the calls', async () => {
    await using tested = await open()
    const { store } = tested
    const id = 1n
    const results = await Promise.allSettled([
      store.replacePlant({ id, name: 'too early' }),
      store.createPlant({ id, name: 'a' }),
      store.createPlant({ id, name: 'b' }),
      store.replacePlant({ id, name: 'c' }),
      store.createPlant({ id, name: 'c' }),
      store.deletePlant(id),
      store.createPlants([
        { id, name: 'd' },
        { id: 2n, name: 'e' },
      ]),
      store.deletePlant(2n),
      store.deletePlant(2n),
    ])

    const errors = results.map((it) => (it.status === 'rejected' ? it.reason.error : null))
    expect(errors).toEqual([40402, null, 40902, null, 40901, null, null, null, 40402])
    expect(await allPlants(store)).toEqual([{ id, name: 'd' }])
  })

  test('shows to a read every change that was answered before', async () => {
    await using tested = await open()
    const { store } = tested
    await Promise.all(
      range(0, 200).map(async (plant) => {
        await store.createPlant(plant)
        expect(await store.readPlant(plant.id)).toEqual(plant)
        await store.deletePlant(plant.id)
        expect(await store.readPlant(plant.id)).toBeNull()
      }),
    )
  })

  test('fails one change of many alone', async () => {
    await using tested = await open()
    const { store } = tested
    await store.createPlant({ id: 50n, name: 'first' })

    const results = await Promise.allSettled(range(0, 100).map((it) => store.createPlant(it)))

    const failed = results.flatMap((it, index) => (it.status === 'rejected' ? [index] : []))
    expect(failed).toEqual([50])
    expect(await allPlants(store)).toHaveLength(100)
  })

  test('answers what is queued when it closes', async () => {
    await using tested = await open()
    const results = Promise.allSettled(range(0, 500).map((it) => tested.store.createPlant(it)))

    const reopened = await tested.reopen()

    expect((await results).every(({ status }) => status === 'fulfilled')).toBeTrue()
    expect(await allPlants(reopened)).toHaveLength(500)
  })

  test('tells that it can write, and what it holds', async () => {
    await using tested = await open()
    const { store } = tested
    await store.createPlants(range(0, 1000))

    await store.probe()

    const { queued, databaseBytes, walBytes } = store.stats()
    expect(queued).toBe(0)
    expect(databaseBytes + walBytes).toBeGreaterThan(0)
    expect(await allPlants(store)).toHaveLength(1000)
  })
}
