// The ticked plants, for actions on many at once.

import { signal } from '@preact/signals'
import type { NewPlant } from '../../../client/client.ts'
import type { PlantList } from './plant-list.ts'
import { MAX_RANGE, plantsBetween, readEverything } from './range.ts'

export class Selection {
  /** The plants by id, as they were ticked. */
  readonly plantsById = signal<ReadonlyMap<bigint, NewPlant>>(new Map())
  /** True while the plants of a range are read. */
  readonly isReading = signal(false)
  /** The plant where a range begins. */
  #rangeStart: bigint | null = null
  /** Counts the changes: a range that is read after another change is dropped. */
  #changes = 0

  constructor(readonly list: PlantList) {}

  get size(): number {
    return this.plantsById.value.size
  }

  /** True if every plant that the table shows is ticked. */
  get hasAll(): boolean {
    const { rows } = this.list
    return this.size > 0 && this.size >= rows.count.value
  }

  /** The plants as the table shows them now, in its order; those that it no longer shows come last. */
  plants(): readonly NewPlant[] {
    const rest = new Map(this.plantsById.value)
    const shown =
      rest.size === 0 ? [] : this.list.rows.heldPlants().filter(({ id }) => rest.delete(id))
    return [...shown, ...rest.values()]
  }

  has(id: bigint): boolean {
    return this.plantsById.value.has(id)
  }

  readonly clear = (): void => {
    this.#rangeStart = null
    this.#set(new Map())
  }

  add(plants: Iterable<NewPlant>): void {
    const entries = [...plants].map((plant) => [plant.id, plant] as const)
    this.#set(new Map([...this.plantsById.value, ...entries]))
  }

  /** Ticks plants, unless they are no longer shown. */
  tickAgain(ids: readonly bigint[]): void {
    const plants = ids.map((id) => this.list.rows.plant(id)).filter((plant) => plant !== undefined)
    if (plants.length > 0) this.add(plants)
  }

  remove(ids: readonly bigint[]): void {
    const next = new Map(this.plantsById.value)
    for (const id of ids) next.delete(id)
    this.#set(next)
  }

  /** Ticks or unticks a plant, or ticks a range that ends with it. */
  toggle(plant: NewPlant, isRange: boolean): void {
    const first = this.#rangeStart
    this.#rangeStart = plant.id
    if (isRange && first !== null) {
      this.add([plant, ...plantsBetween(this.list, first, plant.id)])
      return
    }
    const next = new Map(this.plantsById.value)
    if (!next.delete(plant.id)) next.set(plant.id, plant)
    this.#set(next)
  }

  /** Ticks every plant that the search finds. */
  readonly addAll = async (): Promise<void> => {
    const turn = ++this.#changes
    this.isReading.value = true
    const plants = await readEverything(this.list)
    if (turn !== this.#changes) return
    this.isReading.value = false
    if (plants === 'too many') {
      this.list.announce(`At most ${MAX_RANGE.toLocaleString()} plants can be selected at once`)
    } else if (plants === 'failed')
      this.list.announce('Nothing was selected: the plants cannot be read')
    else this.add(plants)
  }

  #set(plants: ReadonlyMap<bigint, NewPlant>): void {
    this.#changes += 1
    this.isReading.value = false
    this.plantsById.value = plants
  }
}
