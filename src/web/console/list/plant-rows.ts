// The rows of the table: the plants read so far, from the first id on, in the order of the view.

import { batch, signal } from '@preact/signals'
import type { NewPlant } from '../../../client/client.ts'
import {
  BY_ID,
  type Compare,
  comparatorOf,
  insertionIndex,
  lowerBound,
  MAX_SORTED,
} from '../sort.ts'

/** Plants to show by their ids; null hides a plant. */
export type PlantChanges = ReadonlyMap<bigint, NewPlant | null>

/** Sorted plants with changes applied. */
function applyChanges(
  plants: readonly NewPlant[],
  changes: PlantChanges,
  compare: Compare,
): readonly NewPlant[] {
  if (changes.size === 0) return plants
  const kept = plants.filter(({ id }) => !changes.has(id))
  const changed = [...changes.values()].filter((plant) => plant !== null).sort(compare)
  const slices: NewPlant[][] = []
  let from = 0
  for (const plant of changed) {
    const at = insertionIndex(kept, plant, compare)
    slices.push(kept.slice(from, at), [plant])
    from = at
  }
  return slices.concat([kept.slice(from)]).flat()
}

export class PlantRows {
  /** Increases with every change of the rows. */
  readonly version = signal(0)
  readonly count = signal(0)
  /** The number of plants that were read. */
  readonly readCount = signal(0)
  readonly isComplete = signal(false)
  /** True if there are more plants than the page sorts. */
  readonly isTooLong = signal(false)
  /** True if the plants are read from the largest id on. */
  isDescending = false
  #compareIds = comparatorOf(BY_ID)
  /** In the order of ids. */
  #read: readonly NewPlant[] = []
  /** The id up to which every plant was read, or null. */
  #end: bigint | null = null
  #isWhole = false
  #sorted: { readonly plants: readonly NewPlant[]; readonly compare: Compare } | null = null
  #matches: ((plant: NewPlant) => boolean) | null = null
  /** The rows since the last {@link publish}. */
  #shown: readonly NewPlant[] = []
  /** Plants with changes that are not stored yet, or null if deleted. */
  readonly #pending = new Map<bigint, NewPlant | null>()
  /** The changes since a read began, which it may have missed. */
  readonly #changesDuringRead = new Map<bigint, NewPlant | null>()
  #reads = 0

  /** `belongs`: true if a plant belongs to the list; `expectedCount`: the number of its plants, if it is known. */
  constructor(
    readonly belongs: (plant: NewPlant) => boolean,
    readonly expectedCount: () => number | undefined,
  ) {}

  get isSorted(): boolean {
    return this.#sorted !== null
  }

  get isFiltered(): boolean {
    return this.#matches !== null
  }

  row(at: number): NewPlant | undefined {
    return this.#shown[at]
  }

  /** The row of a plant; -1 if it is not shown. */
  rowOf(id: bigint): number {
    const plant = this.plant(id)
    if (!plant) return -1
    const at = insertionIndex(this.#shown, plant, this.#sorted?.compare ?? this.#compareIds)
    return this.#shown[at]?.id === id ? at : this.#shown.findIndex((other) => other.id === id)
  }

  /** The plant with this id; undefined unless it was read. */
  plant(id: bigint): NewPlant | undefined {
    const plant = this.#read[this.#indexOf(id)]
    return plant?.id === id ? plant : undefined
  }

  /** The plants before and after a plant, which may be missing in the list; undefined where none is held. */
  neighbours(id: bigint): readonly [before: NewPlant | undefined, after: NewPlant | undefined] {
    const at = this.rowOf(id)
    if (at >= 0) return [this.row(at - 1), this.row(at + 1)]
    if (this.#matches || this.#sorted) return [undefined, undefined]
    const next = this.#indexOf(id)
    return [this.row(next - 1), this.row(next)]
  }

  /** The plants that are shown, in the order of the table. */
  heldPlants(): readonly NewPlant[] {
    return this.#shown
  }

  /** The plants that were read, in the order of ids. */
  byId(): readonly NewPlant[] {
    return this.#read
  }

  isHidden(id: bigint): boolean {
    return this.#pending.get(id) === null
  }

  /** Shows a plant so until {@link clearPending}, even if it is read as it is stored; null hides it. */
  setPending(id: bigint, plant: NewPlant | null): void {
    this.#pending.set(id, plant)
  }

  clearPending(id: bigint): void {
    this.#pending.delete(id)
  }

  /**
   * Inserts or updates plants that belong to the list, removes others. Plants beyond what was read will be read; one that
   * `isAdded` is shown at once.
   */
  setAll(changes: PlantChanges, isAdded = false): void {
    const rows = new Map<bigint, NewPlant | null>()
    for (const [id, plant] of changes) {
      if (isAdded || this.#isRead(id) || this.plant(id))
        rows.set(id, plant && this.belongs(plant) ? plant : null)
      if (this.#reads > 0)
        this.#changesDuringRead.set(id, plant && this.belongs(plant) ? plant : null)
    }
    this.#apply(rows)
    this.publish()
  }

  beginRead(): void {
    this.#reads += 1
  }

  endRead(): void {
    this.#reads -= 1
    if (this.#reads === 0) this.#changesDuringRead.clear()
  }

  /** Takes the plants that were read after an id, up to another one or, if that is null, the end. */
  take(after: bigint | null, last: bigint | null, plants: readonly NewPlant[]): void {
    const end = last === null ? this.#read.length : this.countUpTo(last)
    const taken = plants
      .map((plant) => (this.isHidden(plant.id) ? null : (this.#pending.get(plant.id) ?? plant)))
      .filter((plant) => plant !== null)
      .filter(this.belongs)
    this.#read = [
      ...this.#read.slice(0, after === null ? 0 : this.countUpTo(after)),
      ...taken,
      ...this.#read.slice(end),
    ]
    if (last === null) this.#isWhole = true
    else if (!this.#isRead(last)) this.#end = last
    this.#apply(new Map([...this.#changesDuringRead].filter(([id]) => this.#isRead(id))))
  }

  /** The number of plants up to an id. */
  countUpTo(id: bigint): number {
    return lowerBound(this.#read, (plant) => this.#isBefore(id, plant.id))
  }

  /** Shows plants in another order, with what has changed while they were read and sorted. */
  sort(plants: readonly NewPlant[], compare: Compare): void {
    this.#sorted = { plants: applyChanges(plants, this.#changesDuringRead, compare), compare }
    this.publish()
  }

  unsort(): void {
    this.#sorted = null
  }

  /** Shows only the held plants that match; null for all of them, from the next {@link publish} on. */
  filter(matches: ((plant: NewPlant) => boolean) | null): void {
    this.#matches = matches
  }

  /** Starts over; the reads in progress no longer count. */
  restart(): void {
    this.#changesDuringRead.clear()
    this.#reads = 0
  }

  /** Holds no plant, in one of the two orders of ids. */
  reset(isDescending: boolean): void {
    this.isDescending = isDescending
    this.#compareIds = comparatorOf({ by: 'id', isDescending })
    this.#read = []
    this.#end = null
    this.#isWhole = false
    this.#sorted = null
  }

  publish(): void {
    const all = this.#sorted?.plants ?? this.#read
    this.#shown = this.#matches ? all.filter(this.#matches) : all
    batch(() => {
      this.readCount.value = this.#read.length
      this.count.value = this.#shown.length
      this.isComplete.value = this.#isWhole
      if (Math.max(this.#read.length, this.expectedCount() ?? 0) > MAX_SORTED)
        this.isTooLong.value = true
      this.version.value += 1
    })
  }

  clear(): void {
    this.#pending.clear()
    this.#matches = null
    this.reset(false)
    batch(() => {
      this.publish()
      this.isTooLong.value = false
    })
  }

  #apply(rows: PlantChanges): void {
    this.#read = applyChanges(this.#read, rows, this.#compareIds)
    if (!this.#sorted) return
    const { plants, compare } = this.#sorted
    this.#sorted = { plants: applyChanges(plants, rows, compare), compare }
  }

  /** True if the list was read beyond an id: what has it is shown, and what is not shown does not exist. */
  #isRead(id: bigint): boolean {
    return this.#isWhole || (this.#end !== null && !this.#isBefore(this.#end, id))
  }

  #isBefore(a: bigint, b: bigint): boolean {
    return this.isDescending ? a > b : a < b
  }

  /** The index of the first plant from an id on. */
  #indexOf(id: bigint): number {
    return lowerBound(this.#read, (plant) => !this.#isBefore(plant.id, id))
  }
}
