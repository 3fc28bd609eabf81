// Plants that the page itself sorts: all of them, or the results of its search.

import type { NewPlant } from '../../../client/client.ts'
import { type Compare, insertionIndex } from '../sort.ts'

/** Inserting this many takes a few milliseconds. */
export const MAX_INSERTED = 2000

/** Plants to show by their ids; null: none. */
export type PlantChanges = ReadonlyMap<bigint, NewPlant | null>

export class SortedPlants {
  #plants: NewPlant[]

  constructor(
    plants: NewPlant[],
    readonly compare: Compare,
    /** True if a plant belongs here. */
    readonly belongs: (plant: NewPlant) => boolean = () => true,
  ) {
    this.#plants = plants
  }

  get plants(): readonly NewPlant[] {
    return this.#plants
  }

  /** The row of a plant, or -1; fast if `plant` has the same fields as here. */
  rowOf(id: bigint, plant: NewPlant | undefined): number {
    const at = plant ? insertionIndex(this.#plants, plant, this.compare) : -1
    return this.#plants[at]?.id === id ? at : this.#plants.findIndex((other) => other.id === id)
  }

  /** Inserts, updates or removes a plant; `before` as for {@link rowOf}. */
  apply(id: bigint, plant: NewPlant | null, before: NewPlant | undefined): void {
    const row = this.rowOf(id, before)
    if (row >= 0) this.#plants.splice(row, 1)
    if (!plant || !this.belongs(plant)) return
    this.#plants.splice(insertionIndex(this.#plants, plant, this.compare), 0, plant)
  }

  /** Inserts, updates or removes plants; very many are appended. True if all are in order. */
  applyAll(changes: PlantChanges): boolean {
    const unchangedPlants = this.#plants.filter(({ id }) => !changes.has(id))
    const changedPlants = [...changes.values()]
      .filter((plant) => plant !== null)
      .filter(this.belongs)
    const isInOrder = changedPlants.length <= MAX_INSERTED
    if (isInOrder) changedPlants.sort(this.compare)
    const all: NewPlant[] = []
    let from = 0
    for (const plant of changedPlants) {
      const index = isInOrder
        ? insertionIndex(unchangedPlants, plant, this.compare)
        : unchangedPlants.length
      while (from < index) {
        const before = unchangedPlants[from++]
        if (before) all.push(before)
      }
      all.push(plant)
    }
    this.#plants = all.concat(unchangedPlants.slice(from))
    return isInOrder
  }
}
