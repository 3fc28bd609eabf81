// The changes of an import that Undo records.
import { expect, test } from 'bun:test'
import { createSteps } from '../../../src/web/console/import/import-steps'

const updatesFrom = (first: number, count: number) =>
  Array.from({ length: count }, (_, at) => ({ id: BigInt(first + at), name: 'a plant' }))

test('an import of too many plants cannot be undone, and the reason is given', () => {
  const steps = createSteps(null)
  steps.add({ updates: updatesFrom(0, 100_000), skipped: 0, replaced: 0 })
  expect(steps.all().undoBarrier).toBeUndefined()
  expect(steps.all().steps.length).toBe(100_000)

  steps.add({ updates: updatesFrom(100_000, 1), skipped: 0, replaced: 0 })

  expect(steps.all()).toEqual({
    steps: [],
    undoBarrier: 'it has more than 100,000 plants',
  })
})

test('an import of plants that were not compared cannot be undone', () => {
  const steps = createSteps(null)

  steps.add({ updates: updatesFrom(0, 2), skipped: 1, replaced: 0 })

  expect(steps.all().undoBarrier).toBe('some of its plants were stored before')
})

test('two changes of a plant by an import are undone as one', () => {
  const before = { id: 1n, name: 'Rose', tag: 'shrub' }
  const steps = createSteps({
    created: 0,
    differing: 2,
    unchanged: 0,
    differences: [],
    storedOf: (id) => (id === before.id ? before : undefined),
  })

  for (const update of [
    { id: 1n, name: 'Rosa', tag: null },
    { id: 1n, name: 'Rosa alba' },
  ])
    steps.add({ updates: [update], skipped: 0, replaced: 1 })

  expect(steps.all().steps).toEqual([{ id: 1n, before, after: { id: 1n, name: 'Rosa alba' } }])
})
