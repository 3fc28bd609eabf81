import { expect, test } from 'bun:test'
import { createWrites } from '../../src/engine/commit/plant-writes'
import type { Outcome } from '../../src/engine/commit/write'
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
