import { expect } from 'bun:test'
import { entityTagOf, type Precondition } from '../../src/plant/entity-tag'
import type { Plant } from '../../src/plant/plant'
import type { ErrorName } from '../../src/request-errors'
import type { Store } from '../../src/store'
import { createContract } from '../harness/contract'
import { allPlants, expectRefusal, range, type TestedStore } from '../harness/tested-store'
import { listsContract } from './store-contract-lists'
import { modelContract } from './store-contract-model'
import { tokensContract } from './store-contract-tokens'

const MIN = -(2n ** 63n)
const MAX = 2n ** 63n - 1n

/** Expects a refusal that leaves the store as it was; resolves to the message. */
async function refused(store: Store, error: ErrorName, change: () => Promise<unknown>) {
  const before = await allPlants(store)
  const message = await expectRefusal(error, change)
  expect(await allPlants(store)).toEqual(before)
  return message
}

const plantsContract = createContract<TestedStore>()
const { test } = plantsContract

/** The contract of `src/store.ts`, for an engine whose empty stores `open` makes. */
export function testStore(name: string, open: () => Promise<TestedStore>): void {
  for (const contract of [plantsContract, listsContract, modelContract, tokensContract])
    contract.run(`a store in ${name}`, open)
}

test('a plant is exactly the same after a restart', async ({ store, reopen }) => {
  const plants: Plant[] = [
    { id: MIN, name: '' },
    { id: -9007199254740993n, name: '🌵\u0001\uFFFF', tag: '' },
    { id: 0n, name: 'Rose', tag: `'; --` },
    { id: 9007199254740993n, name: 'ö'.repeat(100_000), tag: 'ö'.repeat(100_000) },
    { id: MAX, name: 'Oak', tag: 'tree' },
  ]
  for (const plant of plants) await store.createPlant(plant)

  for (const plant of plants) expect(await store.readPlant(plant.id)).toEqual(plant)
  expect(await store.readPlant(1n)).toBeNull()
  expect(await store.readPlant(9007199254740992n)).toBeNull()
  expect(await allPlants(store)).toEqual(plants)
  expect(await allPlants(await reopen())).toEqual(plants)
})

test('a batch creates all of its plants or none', async ({ store, reopen }) => {
  await store.createPlants(range(100, 1000))
  expect(await allPlants(store)).toHaveLength(1000)

  const other = { id: 200n, name: 'other' }
  const message = await refused(store, 'taken', () =>
    store.createPlants([...range(0, 3), other, ...range(3, 3)]),
  )
  expect(message).toContain('plants[3]')
  expect(message).toContain('200')
  const again = () => store.createPlants([{ id: 1n, name: 'a' }, ...range(100, 1)])
  expect(await refused(store, 'stored already', again)).toContain('plants[1]')
  const twice = { id: 5n, name: 'a' }
  await refused(store, 'stored already', () => store.createPlants([twice, twice]))
  expect(await allPlants(await reopen())).toHaveLength(1000)
})

test('a batch of 1000 puts stores the last plant of each id', async ({ store, reopen }) => {
  await store.createPlants(range(500, 1000).map((plant) => ({ ...plant, name: 'other' })))

  const counts = { created: 500, replaced: 500, unchanged: 0 }
  expect(await store.putPlants(range(0, 1000))).toEqual(counts)
  const shared = ['a', 'a', 'b'].map((name) => ({ id: -1n, name }))
  expect(await store.putPlants(shared)).toEqual({ created: 1, replaced: 1, unchanged: 1 })
  expect(await store.readPlant(-1n)).toEqual({ id: -1n, name: 'b' })
  expect(await store.countPlants()).toBe(1501)
  expect((await allPlants(await reopen())).slice(1, 1001)).toEqual(range(0, 1000))
})

test('a batch of 1000 deleted plants can be created again', async ({ store, reopen }) => {
  const plants = range(500, 1000)
  await store.createPlants(plants)
  await store.createPlants(range(0, 500))

  const all = { deleted: 1000, conflicts: [], missing: [] }
  expect(await store.deletePlants(plants)).toEqual(all)
  expect(await store.countPlants()).toBe(500)
  await store.createPlants(plants)
  expect(await store.countPlants()).toBe(1500)
  expect(await allPlants(await reopen())).toEqual([...range(0, 500), ...plants])
})

test('the number of plants is right after every kind of change', async ({ store, reopen }) => {
  expect(await store.countPlants()).toBe(0)

  await Promise.all([
    store.createPlants(range(0, 500)),
    ...range(500, 100).map((plant) => store.createPlant(plant)),
  ])
  expect(await store.countPlants()).toBe(600)

  const twice = { id: 1000n, name: 'a' }
  const ends = await Promise.allSettled([
    store.createPlants([...range(600, 3), ...range(0, 1)]),
    store.createPlants([twice, twice]),
    store.createPlant({ id: 2n, name: 'other' }),
    store.deletePlant(700n),
    store.replacePlant({ id: 700n, name: 'a' }),
    store.replacePlant({ id: 3n, name: 'other' }),
    store.patchPlant(4n, { tag: 'a' }),
    store.deletePlant(5n),
    store.deletePlant(5n),
    store.createPlant({ id: 5n, name: 'again' }),
    store.deletePlant(6n),
    store.createPlants([twice]),
    store.putPlants([...range(590, 10), ...range(700, 10), twice]),
    store.putPlants(range(700, 10)),
    store.patchPlants([
      { id: 701n, tag: 'patched' },
      { id: 720n, name: 'new' },
    ]),
    store.deletePlants([...range(705, 10), twice]),
    store.deletePlants(range(710, 10)),
    store.putPlants([...range(705, 5), twice]),
    store.deletePlant(1000n),
  ])
  expect(ends.filter(({ status }) => status === 'rejected')).toHaveLength(6)
  expect(await store.countPlants()).toBe(610)
  expect(await allPlants(store)).toHaveLength(610)

  expect(await (await reopen()).countPlants()).toBe(610)
})

const ids = [MIN, 1n, 9007199254740993n, MAX]

for (const id of ids) {
  test(`a condition allows a change of plant ${id} only if it is as it was read`, async ({
    store,
  }) => {
    const plant = { id, name: 'a', tag: 'b' }
    await store.createPlant(plant)
    const now = entityTagOf(plant)
    const stale = entityTagOf({ id, name: 'a' })
    const changes = (precondition: Precondition) => [
      () => store.replacePlant({ id, name: 'c' }, { precondition }),
      () => store.patchPlant(id, { name: 'c' }, { precondition }),
      () => store.deletePlant(id, { precondition }),
    ]

    const failing: Precondition[] = [
      { ifMatch: [stale] },
      { ifMatch: [] },
      { ifNoneMatch: [stale, now] },
      { ifNoneMatch: '*' },
      { ifMatch: [now], ifNoneMatch: [now] },
    ]
    for (const precondition of failing) {
      for (const change of changes(precondition))
        await refused(store, 'precondition failed', change)
    }
    for (const change of changes({ ifMatch: '*', ifNoneMatch: [stale] })) {
      await change()
      await store.createPlant(plant).catch(() => store.replacePlant(plant))
    }
    for (const change of changes({ ifMatch: [stale, now] })) {
      await change()
      await store.createPlant(plant).catch(() => store.replacePlant(plant))
    }
    expect(await store.readPlant(id)).toEqual(plant)
  })
}

test('a missing plant is reported, whatever the precondition', async ({ store }) => {
  for (const precondition of [
    { ifMatch: '*' },
    { ifMatch: ['"a"'] },
    { ifNoneMatch: '*' },
  ] as const) {
    await refused(store, 'no such plant', () =>
      store.replacePlant({ id: 1n, name: 'a' }, { precondition }),
    )
    await refused(store, 'no such plant', () =>
      store.patchPlant(1n, { name: 'a' }, { precondition }),
    )
    await refused(store, 'no such plant', () => store.deletePlant(1n, { precondition }))
  }
})

test('only one of many clients changes a plant that all have read', async ({ store }) => {
  await store.createPlant({ id: 1n, name: 'a' })
  const precondition = { ifMatch: [entityTagOf({ id: 1n, name: 'a' })] }

  const results = await Promise.allSettled(
    range(0, 50).map(({ name }) => store.patchPlant(1n, { name }, { precondition })),
  )

  const errors = results.map((result) =>
    result.status === 'rejected' ? result.reason.error : null,
  )
  expect(errors).toEqual([null, ...Array(49).fill('precondition failed')])
  expect(await allPlants(store)).toEqual([{ id: 1n, name: 'n0' }])
})

test('changes are made in the order of the calls', async ({ store }) => {
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
    store.putPlants([
      { id, name: 'f' },
      { id: 2n, name: 'g' },
    ]),
    store.putPlants([{ id, name: 'd' }]),
    store.deletePlants([
      { id, name: 'f' },
      { id: 2n, name: 'g' },
    ]),
    store.createPlant({ id: 2n, name: 'h' }),
    store.deletePlant(2n),
    store.deletePlant(2n),
  ])

  const errors = results.map((result) =>
    result.status === 'rejected' ? result.reason.error : null,
  )
  const made = ['no such plant', null, 'taken', null, 'stored already', null, null, null]
  expect(errors).toEqual([...made, null, null, null, null, null, 'no such plant'])
  expect(await allPlants(store)).toEqual([{ id, name: 'd' }])
})

test('later reads show every acknowledged change', async ({ store }) => {
  await Promise.all(
    range(0, 200).map(async (plant) => {
      await store.createPlant(plant)
      expect(await store.readPlant(plant.id)).toEqual(plant)
      await store.deletePlant(plant.id)
      expect(await store.readPlant(plant.id)).toBeNull()
    }),
  )
})

test('an acknowledged change is shown to a read in the turn of earlier reads', async ({
  store,
}) => {
  for (const plant of range(0, 50)) {
    let isAnswered = false
    const found = store.createPlant(plant).then(() => {
      isAnswered = true
      return store.readPlant(plant.id)
    })
    while (!isAnswered) {
      // The commit ends while this turn reads.
      await Promise.all([store.readPlant(-1n), Bun.sleepSync(1)])
      await new Promise((resolve) => setImmediate(resolve))
    }
    expect(await found).toEqual(plant)
  }
})

test('the store commits its queue when it closes', async ({ store, reopen }) => {
  const results = Promise.allSettled(range(0, 500).map((plant) => store.createPlant(plant)))

  const reopened = await reopen()

  expect((await results).every(({ status }) => status === 'fulfilled')).toBeTrue()
  expect(await allPlants(reopened)).toHaveLength(500)
})

test('the store reports its size, and that it can write', async ({ store }) => {
  await store.createPlants(range(0, 1000))

  await store.probe()

  const { queuedWrites, databaseBytes, walBytes } = store.stats()
  expect(queuedWrites).toBe(0)
  // A server does not tell.
  if (databaseBytes !== null) expect(databaseBytes + (walBytes ?? 0)).toBeGreaterThan(0)
  expect(await allPlants(store)).toHaveLength(1000)
})
