// All plants, as the page itself sorts them.

import type { NewPlant } from '../../../client/client.ts'
import { type Compare, insertionIndex } from '../sort.ts'

// More are removed faster in one pass.
const MAX_LOOKED_FOR = 100
/** Inserting this many takes some milliseconds. */
export const MAX_INSERTED = 2000

/** Plants to show by their ids; null: none. */
export type PlantChanges = ReadonlyMap<bigint, NewPlant | null>

/** The row of a plant among sorted ones, or -1; fast if it has the same fields there. */
export function rowAmong(
  plants: readonly NewPlant[],
  plant: NewPlant | undefined,
  compare: Compare,
): number {
  if (!plant) return -1
  const at = insertionIndex(plants, plant, compare)
  return plants[at]?.id === plant.id ? at : plants.findIndex(({ id }) => id === plant.id)
}

export class SortedPlants {
  #plants: NewPlant[]

  constructor(
    plants: NewPlant[],
    readonly compare: Compare,
  ) {
    this.#plants = plants
  }

  get plants(): readonly NewPlant[] {
    return this.#plants
  }

  /**
   * Inserts, updates or removes plants, whose earlier fields `plantOf` returns; very many are appended. True if all are in
   * order.
   */
  applyAll(changes: PlantChanges, plantOf: (id: bigint) => NewPlant | undefined): boolean {
    if (changes.size > MAX_LOOKED_FOR)
      this.#plants = this.#plants.filter(({ id }) => !changes.has(id))
    else {
      for (const id of changes.keys()) {
        const row = rowAmong(this.#plants, plantOf(id), this.compare)
        if (row >= 0) this.#plants.splice(row, 1)
      }
    }
    const changedPlants = [...changes.values()].filter((plant) => plant !== null)
    const isInOrder = changedPlants.length <= MAX_INSERTED
    for (const plant of changedPlants) {
      const { length } = this.#plants
      const at = isInOrder ? insertionIndex(this.#plants, plant, this.compare) : length
      this.#plants.splice(at, 0, plant)
    }
    return isInOrder
  }
}
