import { expect, test } from 'bun:test'
import { GroupCommit } from '../../src/engine/commit/group-commit'
import { createWrites, type PlantChanges, plantChanges } from '../../src/engine/commit/plant-writes'
import { DONE, type Outcome, type Write } from '../../src/engine/commit/write'
import { issueToken } from '../../src/token/token'
import { turns } from '../harness/ledger'
import { range } from '../harness/tested-store'

/** The number of times that a listener of the change log is woken by a change that ends so. */
async function wakings(
  change: (changes: PlantChanges) => Promise<unknown>,
  outcome: Outcome,
): Promise<number> {
  const { methods, watch } = createWrites(
    async (batch) => batch.map(() => outcome),
    async () => ({ entries: [], next: '' }),
  )
  let woken = 0
  const end = watch(() => {
    woken += 1
  })
  await change(methods).catch(() => {})
  end()
  return woken
}

const putAll = (store: PlantChanges) => store.putPlants(range(1, 3))
const patchAll = (store: PlantChanges) => store.patchPlants(range(1, 3))
const deleteAll = (store: PlantChanges) => store.deletePlants(range(1, 3))
const none = { created: 0, writtenRows: [], deleted: [], conflicts: [2], missing: [1] }

test.each<[string, (changes: PlantChanges) => Promise<unknown>, Outcome]>([
  ['a create', (store) => store.createPlant({ id: 1n, name: 'a' }), DONE],
  ['a batch of creates', (store) => store.createPlants(range(1, 3)), DONE],
  ['a batch of puts', putAll, { ...none, writtenRows: [[1, 'a', null]] }],
  ['a batch of patches', patchAll, { ...none, writtenRows: [[1, 'a', null]] }],
  ['a batch of deletes', deleteAll, { ...none, deleted: [3] }],
  ['a replacement', (store) => store.replacePlant({ id: 1n, name: 'a' }), { row: [1, 'a', null] }],
  ['a patch', (store) => store.patchPlant(1n, { tag: null }), { row: [1, 'a', null] }],
  ['a delete', (store) => store.deletePlant(1n), DONE],
])('followers of the change log are notified of %s', async (_, change, outcome) => {
  expect(await wakings(change, outcome)).toBe(1)
})

test.each<[string, (changes: PlantChanges) => Promise<unknown>, Outcome]>([
  ['a batch of puts without a change', putAll, none],
  ['a batch of patches without a change', patchAll, none],
  ['a batch of deletes without a delete', deleteAll, none],
  ['a batch that is refused', putAll, { error: 'unexpected' }],
])('followers of the change log are not notified of %s', async (_, change, outcome) => {
  expect(await wakings(change, outcome)).toBe(0)
})

const name = 'n'.repeat(1000)

test.each<[string, (changes: PlantChanges) => Promise<unknown>]>([
  ['a create', (store) => store.createPlant({ id: 1n, name })],
  ['a batch of creates', (store) => store.createPlants(range(1, 10))],
  ['a batch of puts', (store) => store.putPlants(range(1, 10))],
  ['a batch of patches', (store) => store.patchPlants(range(1, 10))],
  ['a condition of a patch', (store) => store.patchPlants([{ id: 1n, was: { name } }])],
  ['a batch of deletes', (store) => store.deletePlants(range(1, 10))],
  ['a replacement', (store) => store.replacePlant({ id: 1n, name })],
  ['a patch', (store) => store.patchPlant(1n, { name })],
])('the size of the queue includes %s', async (_, change) => {
  const limits = { queuedWrites: 10, queuedBytes: 1000, batchWrites: 10 }
  const changes = plantChanges(new GroupCommit<Write>(async () => [], limits))
  const waiting = changes.deletePlant(1n).catch(() => {})

  await expect(change(changes)).rejects.toHaveProperty('error', 'busy')
  await waiting
})

test('the use of a token is reported once it is durable', async () => {
  const { token } = issueToken('laptop', 'read', null, 0)
  const { promise: used, resolve } = Promise.withResolvers<string>()
  let isDurable = false
  const { methods } = createWrites(
    async (batch) => {
      await turns()
      isDurable = true
      return batch.map(() => DONE)
    },
    async () => ({ entries: [], next: '' }),
    (hash) => resolve(`${hash} ${isDurable}`),
  )

  methods.recordUse(token, Date.now())

  expect(await used).toBe(`${token.hash} true`)
})
