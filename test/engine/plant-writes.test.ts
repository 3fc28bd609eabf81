import { expect, test } from 'bun:test'
import { GroupCommit } from '../../src/engine/commit/group-commit'
import { createWrites, type PlantChanges, plantChanges } from '../../src/engine/commit/plant-writes'
import type { Outcome, Write } from '../../src/engine/commit/write'
import { range } from '../harness/tested-store'

/** How often a listener of the change log is woken by a batch that ends so. */
async function wakings(outcome: Outcome, isPut = true): Promise<number> {
  const { methods, watch } = createWrites(
    async (batch) => batch.map(() => outcome),
    async () => ({ entries: [], next: '' }),
  )
  let woken = 0
  const end = watch(() => {
    woken += 1
  })
  const change = isPut ? methods.putPlants(range(1, 3)) : methods.deletePlants(range(1, 3))
  await change.catch(() => {})
  end()
  return woken
}

test('a batch of puts wakes those who follow the change log only if it wrote something', async () => {
  expect(await wakings({ created: 1, replaced: 0, unchanged: 2 })).toBe(1)
  expect(await wakings({ created: 0, replaced: 1, unchanged: 2 })).toBe(1)
  expect(await wakings({ created: 0, replaced: 0, unchanged: 3 })).toBe(0)
  expect(await wakings({ error: 'unexpected' })).toBe(0)
})

test('a batch of deletes wakes them only if it deleted something', async () => {
  const deletes = { deleted: [1], changed: [2], missing: [] }
  expect(await wakings(deletes, false)).toBe(1)
  expect(await wakings({ ...deletes, deleted: [], missing: [1] }, false)).toBe(0)
})

const name = 'n'.repeat(1000)
const edit = { id: 1, logged: null, stored: null }

test.each<[string, (changes: PlantChanges) => Promise<unknown>]>([
  ['a create', (it) => it.createPlant({ id: 1n, name })],
  ['a batch of creates', (it) => it.createPlants(range(1, 10))],
  ['a batch of puts', (it) => it.putPlants(range(1, 10))],
  ['a batch of patches', (it) => it.patchPlants(range(1, 10))],
  ['a condition of a patch', (it) => it.patchPlants([{ id: 1n, was: { name } }])],
  ['a batch of deletes', (it) => it.deletePlants(range(1, 10))],
  ['a replacement', (it) => it.replacePlant({ id: 1n, name })],
  ['a patch', (it) => it.patchPlant(1n, { name })],
  ['a batch of edits', (it) => it.accept(Array(9).fill(edit), 0)],
])('the size of what waits includes %s', async (_, change) => {
  const limits = { queuedWrites: 10, queuedBytes: 1000, batchWrites: 10 }
  const changes = plantChanges(new GroupCommit<Write>(async () => [], limits))
  const waiting = changes.deletePlant(1n).catch(() => {})

  await expect(change(changes)).rejects.toHaveProperty('error', 'busy')
  await waiting
})
