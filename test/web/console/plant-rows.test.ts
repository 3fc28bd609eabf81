// The rows of the table while plants are read, added, changed and removed.
import { expect, test } from 'bun:test'
import fc from 'fast-check'
import type { NewPlant } from '../../../src/client/client'
import { PlantRows } from '../../../src/web/console/list/plant-rows'
import { comparatorOf } from '../../../src/web/console/sort'

const byName = comparatorOf({ by: 'name', isDescending: false })
const plant = fc.record({
  id: fc.bigInt({ min: 0n, max: 30n }),
  name: fc.constantFrom('Aloe', 'aloe 2', 'aloe 10', 'Éclair', 'zebra'),
})
const change = fc.tuple(plant, fc.boolean())
const mapOf = (plants: readonly NewPlant[]) => new Map(plants.map((plant) => [plant.id, plant]))
const openRows = () =>
  new PlantRows(
    () => true,
    () => undefined,
  )

test.each(['id', 'name', '-id'])('rows by %s stay in order after any changes', (sort) => {
  const isDescending = sort === '-id'
  const compare = sort === 'name' ? byName : comparatorOf({ by: 'id', isDescending })
  const sorted = (plants: ReadonlyMap<bigint, NewPlant>) => [...plants.values()].sort(compare)
  fc.assert(
    fc.property(fc.array(plant), fc.array(change), fc.array(change), (first, single, all) => {
      const plants = mapOf(first)
      const rows = openRows()
      rows.reset(isDescending)
      const read = [...plants.values()].sort(comparatorOf({ by: 'id', isDescending }))
      rows.take(null, null, read)
      if (sort === 'name') rows.sort(sorted(plants), compare)
      const set = (changes: typeof all): void => {
        for (const [plant, isKept] of changes) {
          if (isKept) plants.set(plant.id, plant)
          else plants.delete(plant.id)
        }
        rows.setAll(new Map(changes.map(([plant, isKept]) => [plant.id, isKept ? plant : null])))
        expect(rows.heldPlants()).toEqual(sorted(plants))
      }
      for (const one of single) set([one])
      set(all)
      for (const [row, { id }] of sorted(plants).entries()) expect(rows.rowOf(id)).toBe(row)
      expect(rows.rowOf(31n)).toBe(-1)
    }),
  )
})

test('rows lose none of very many changes, and sort them', () => {
  const plants = Array.from({ length: 6000 }, (_, at) => ({
    id: BigInt(at),
    name: `plant ${(at * 7919) % 6000}`,
  }))
  const rows = openRows()
  rows.take(null, null, plants.slice(0, 1000))
  rows.sort(plants.slice(0, 1000).sort(byName), byName)
  const gone = plants.slice(0, 500).map(({ id }): [bigint, null] => [id, null])
  const added = plants.slice(1000).map((plant): [bigint, NewPlant] => [plant.id, plant])

  rows.setAll(new Map<bigint, NewPlant | null>([...gone, ...added]))
  expect(rows.heldPlants()).toEqual(plants.slice(500).sort(byName))
  expect(rows.byId()).toEqual(plants.slice(500))
})

test('rows beyond what was read appear once read, or at once if added here', () => {
  const rows = openRows()
  const named = (id: bigint, name = 'Moss') => ({ id, name })
  const shown = () => rows.heldPlants().map(({ id, name }) => `${id} ${name}`)
  rows.take(null, 20n, [named(10n), named(20n)])
  rows.setAll(new Map([named(15n), named(30n)].map((plant) => [plant.id, plant])))
  rows.setAll(new Map([[90n, named(90n)]]), true)
  rows.setAll(new Map([[90n, named(90n, 'Fern')]]))
  expect(shown()).toEqual(['10 Moss', '15 Moss', '20 Moss', '90 Fern'])

  rows.take(20n, 40n, [named(30n), named(40n)])
  rows.publish()
  expect(shown()).toEqual(['10 Moss', '15 Moss', '20 Moss', '30 Moss', '40 Moss', '90 Fern'])
  rows.setAll(new Map([[90n, null]]))
  expect(shown().at(-1)).toBe('40 Moss')
})
