// The plants that are ticked, for what is done to many at once.

import { signal } from '@preact/signals'
import type { NewPlant } from '../../client/client.ts'
import type { PlantList } from './plant-list.ts'

export type Selection = ReturnType<typeof createSelection>

export function createSelection(list: PlantList) {
  const ids = signal<ReadonlyMap<bigint, NewPlant>>(new Map())
  /** Where a range begins. */
  let first: bigint | null = null

  /** The loaded plants from where the range begins to this one. */
  function range(id: bigint): readonly NewPlant[] {
    const [from, to] = [first === null ? -1 : list.rowOf(first), list.rowOf(id)].sort(
      (a, b) => a - b,
    )
    if (from === undefined || to === undefined || from < 0) return []
    return Array.from({ length: to - from + 1 }, (_, at) => list.row(from + at)).filter(
      (plant) => plant !== undefined,
    )
  }

  return {
    /** By id, as they were ticked. */
    ids,

    clear(): void {
      ids.value = new Map()
    },

    /** Ticks more plants. */
    add(plants: Iterable<NewPlant>): void {
      ids.value = new Map([...ids.value, ...[...plants].map((it) => [it.id, it] as const)])
    },

    /** Unticks plants. */
    drop(plants: readonly NewPlant[]): void {
      const next = new Map(ids.value)
      for (const { id } of plants) next.delete(id)
      ids.value = next
    },

    /** The plants as the table shows them now. */
    plants: (): readonly NewPlant[] =>
      [...ids.value.values()].map((plant) => list.plant(plant.id) ?? plant),

    /** Ticks or unticks a plant, or ticks a range that ends with it. */
    toggle(plant: NewPlant, isRange: boolean): void {
      const next = new Map(ids.value)
      const more = isRange ? range(plant.id) : []
      if (more.length > 0) for (const it of more) next.set(it.id, it)
      else if (!next.delete(plant.id)) next.set(plant.id, plant)
      first = plant.id
      ids.value = next
    },
  }
}
