// Plants in an order of the page, as they come, change and go.
import { expect, test } from 'bun:test'
import fc from 'fast-check'
import type { NewPlant } from '../../../src/client/client'
import { rowAmong, SortedPlants } from '../../../src/web/console/list/sorted-plants'
import { comparatorOf } from '../../../src/web/console/sort'

const compare = comparatorOf({ by: 'name', isDescending: false })
const plant = fc.record({
  id: fc.bigInt({ min: 0n, max: 30n }),
  name: fc.constantFrom('Aloe', 'aloe 2', 'aloe 10', 'Éclair', 'zebra'),
})
const change = fc.tuple(plant, fc.boolean())
const sorted = (plants: ReadonlyMap<bigint, NewPlant>) => [...plants.values()].sort(compare)
const byId = (plants: readonly NewPlant[]) => new Map(plants.map((plant) => [plant.id, plant]))

test('has each plant in its place after any changes, one by one or all at once', () => {
  fc.assert(
    fc.property(fc.array(plant), fc.array(change), fc.array(change), (first, single, all) => {
      const plants = byId(first)
      const sortedPlants = new SortedPlants(sorted(plants), compare)
      for (const [plant, isKept] of single) {
        const before = plants.get(plant.id)
        if (isKept) plants.set(plant.id, plant)
        else plants.delete(plant.id)
        sortedPlants.applyAll(new Map([[plant.id, isKept ? plant : null]]), () => before)
        expect(sortedPlants.plants).toEqual(sorted(plants))
      }
      const before = new Map(plants)
      const changes = new Map(all.map(([plant, isKept]) => [plant.id, isKept ? plant : null]))
      for (const [id, plant] of changes) {
        if (plant) plants.set(id, plant)
        else plants.delete(id)
      }
      expect(sortedPlants.applyAll(changes, (id) => before.get(id))).toBeTrue()
      expect(sortedPlants.plants).toEqual(sorted(plants))
      for (const [row, plant] of sorted(plants).entries()) {
        expect(rowAmong(sortedPlants.plants, plant, compare)).toBe(row)
        // As it was before others changed it.
        const other = { id: plant.id, name: 'other' }
        expect(rowAmong(sortedPlants.plants, other, compare)).toBe(row)
      }
      expect(rowAmong(sortedPlants.plants, { id: 31n, name: 'Aloe' }, compare)).toBe(-1)
    }),
  )
})

test('very many changes need a new sort, but lose none', () => {
  const plants = Array.from({ length: 6000 }, (_, at) => ({
    id: BigInt(at),
    name: `plant ${(at * 7919) % 6000}`,
  }))
  const sortedPlants = new SortedPlants(plants.slice(0, 1000).sort(compare), compare)
  const gone = plants.slice(0, 500).map(({ id }): [bigint, null] => [id, null])
  const added = plants.slice(1000).map((plant): [bigint, NewPlant] => [plant.id, plant])

  const changes = new Map<bigint, NewPlant | null>([...gone, ...added])
  expect(sortedPlants.applyAll(changes, () => undefined)).toBeFalse()
  expect(sortedPlants.plants).toHaveLength(5500)
  expect(sortedPlants.plants.toSorted(compare)).toEqual(plants.slice(500).sort(compare))
})
