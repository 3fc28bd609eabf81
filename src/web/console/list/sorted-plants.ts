// Plants that the page itself sorts: all of them, or the results of its search.

import type { NewPlant } from '../../../client/client.ts'
import { type Compare, placeAmong } from '../sort.ts'

/** This many are put in their places within a few milliseconds. */
export const MAX_PLACED = 2000

export class SortedPlants {
  #plants: NewPlant[]

  constructor(
    plants: NewPlant[],
    readonly compare: Compare,
    /** True if a plant belongs here. */
    readonly fits: (plant: NewPlant) => boolean = () => true,
  ) {
    this.#plants = plants
  }

  get plants(): readonly NewPlant[] {
    return this.#plants
  }

  /** The row of a plant, or -1; fast if `plant` has the fields that it has here. */
  rowOf(id: bigint, plant: NewPlant | undefined): number {
    const at = plant ? placeAmong(this.#plants, plant, this.compare) : -1
    return this.#plants[at]?.id === id ? at : this.#plants.findIndex((other) => other.id === id)
  }

  /** Puts a plant in its place, or removes it; `before` as for {@link rowOf}. */
  place(id: bigint, plant: NewPlant | null, before: NewPlant | undefined): void {
    const row = this.rowOf(id, before)
    if (row >= 0) this.#plants.splice(row, 1)
    if (!plant || !this.fits(plant)) return
    this.#plants.splice(placeAmong(this.#plants, plant, this.compare), 0, plant)
  }

  /** Puts plants in their places, or removes them; very many go to the end. True if all are in order. */
  placeAll(changes: ReadonlyMap<bigint, NewPlant | null>): boolean {
    const unchangedPlants = this.#plants.filter(({ id }) => !changes.has(id))
    const changedPlants = [...changes.values()].filter((plant) => plant !== null).filter(this.fits)
    const isPlaced = changedPlants.length <= MAX_PLACED
    if (isPlaced) changedPlants.sort(this.compare)
    const all: NewPlant[] = []
    let from = 0
    for (const plant of changedPlants) {
      const place = isPlaced
        ? placeAmong(unchangedPlants, plant, this.compare)
        : unchangedPlants.length
      while (from < place) {
        const before = unchangedPlants[from++]
        if (before) all.push(before)
      }
      all.push(plant)
    }
    this.#plants = all.concat(unchangedPlants.slice(from))
    return isPlaced
  }
}
