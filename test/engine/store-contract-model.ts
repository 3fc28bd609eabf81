import { expect } from 'bun:test'
import fc from 'fast-check'
import type { Plants } from '../../src/plant/plants'
import { createContract } from '../harness/contract'
import { PATIENCE_MS } from '../harness/daemon'
import { FILTERS } from '../harness/filters'
import { allPlants, type TestedStore } from '../harness/tested-store'
import { PlantsModel } from './plants-model'

const operations = Number(Bun.env.RANDOM_OPERATIONS ?? 1000)

/** The part of the contract that compares random operations with a model; RANDOM_OPERATIONS is their number. */
export const modelContract = createContract<TestedStore>(PATIENCE_MS + operations * 10)

const LENGTH = 40
const numRuns = Math.ceil(operations / LENGTH)

const LONG = 'x'.repeat(200)
// Few ids and texts, so that operations meet one another.
const id = fc.constantFrom(
  ...[0n, 1n, -1n, 2n ** 53n, 2n ** 53n + 1n],
  ...[-(2n ** 63n), 1n - 2n ** 63n, 2n ** 63n - 2n, 2n ** 63n - 1n],
)
const text = fc.constantFrom(
  '',
  'a',
  'x',
  'X',
  'Rosa alba',
  'alba ROSA',
  '\uff5e',
  '🌵',
  `${LONG}y`,
)
const some = <T>(item: fc.Arbitrary<T>) => fc.array(item, { minLength: 1, maxLength: 4 })
const plant = fc.record({ id, name: text, tag: text }, { requiredKeys: ['id', 'name'] })
const plants = fc.uniqueArray(plant, { selector: (each) => each.id, minLength: 1, maxLength: 4 })
const fields = { name: text, tag: fc.option(text) }
const change = fc.record(fields, { requiredKeys: [] })
const update = fc.record({ id, ...fields, was: change }, { requiredKeys: ['id'] })
const limit = fc.integer({ min: 1, max: 5 })
const order = fc.constantFrom('asc', 'desc')
const names = fc.array(fc.constantFrom('ROSA', 'al', 'a', '', '%'), { maxLength: 2 })
const query = fc
  .tuple(fc.record({ limit, after: fc.option(id), order, names }), fc.constantFrom(...FILTERS))
  .map(([page, filter]) => ({ ...page, ...filter }))
const after = fc.option(fc.oneof(text, fc.constantFrom('m', LONG, '\u{10ffff}')))

const OPERATIONS: { readonly [Method in keyof Plants]: fc.Arbitrary<readonly unknown[]> } = {
  createPlant: fc.tuple(plant),
  createPlants: fc.tuple(plants),
  putPlants: fc.tuple(some(plant)),
  patchPlants: fc.tuple(some(update)),
  deletePlants: fc.tuple(plants),
  readPlant: fc.tuple(id),
  countPlants: fc.tuple(),
  replacePlant: fc.tuple(plant),
  patchPlant: fc.tuple(id, change),
  deletePlant: fc.tuple(id),
  listPlants: fc.tuple(query),
  listTags: fc.tuple(fc.record({ limit, after })),
}
const operation = fc.oneof(
  ...Object.entries(OPERATIONS).map(([method, args]) => ({
    arbitrary: fc.tuple(fc.constant(method as keyof Plants), args),
    weight: method === 'listPlants' ? 4 : 1,
  })),
)

/** The result of an operation, or the name of its error. */
const outcomeOf = (store: Plants, method: keyof Plants, args: readonly unknown[]) =>
  Promise.try(() => Reflect.apply(store[method], store, args)).catch(({ error }) => ({ error }))

modelContract.test('random operations have the results of a model', async ({ store, reopen }) => {
  let model = new PlantsModel()
  await fc.assert(
    fc.asyncProperty(
      fc.array(operation, { minLength: LENGTH, maxLength: LENGTH }),
      async (sequence) => {
        await store.deletePlants(await allPlants(store))
        model = new PlantsModel()
        for (const [method, args] of sequence)
          expect(await outcomeOf(store, method, args)).toEqual(await outcomeOf(model, method, args))
        expect(await allPlants(store)).toEqual(await allPlants(model))
      },
    ),
    { numRuns },
  )
  expect(await allPlants(await reopen())).toEqual(await allPlants(model))
})
