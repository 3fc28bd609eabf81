// The rows of the table: in the order of ids, in parts of which some are held; or all of them sorted, or filtered by the
// page's own search. Keeps changes made during a read.

import { batch, signal } from '@preact/signals'
import type { NewPlant } from '../../../client/client.ts'
import { type Compare, MAX_SORTED } from '../sort.ts'
import { ASCENDING } from './id-order.ts'
import type { Part } from './part.ts'
import { PartList } from './part-list.ts'
import { MAX_INSERTED, type PlantChanges, rowAmong, SortedPlants } from './sorted-plants.ts'

export class PlantRows {
  readonly parts = new PartList()
  /** Increases with every change of the rows. */
  readonly version = signal(0)
  /** The number of rows, unread ones included. */
  readonly count = signal(0)
  /** The number of plants that were read. */
  readonly readCount = signal(0)
  /** The number of plants that are shown. */
  readonly foundCount = signal(0)
  readonly isComplete = signal(false)
  /** True if there are more plants than the page sorts. */
  readonly isTooLong = signal(false)

  /** All plants as the page sorted them; null in the order of ids. */
  #sortedPlants: SortedPlants | null = null
  /** The condition of the page's own search; null without one. */
  #matches: ((plant: NewPlant) => boolean) | null = null
  /** The held plants that match, in the order of the table; null without a search. */
  #foundPlants: readonly NewPlant[] | null = null
  /** Plants with changes that are not stored yet; null: deleted. */
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
    return this.#sortedPlants !== null
  }

  get isFiltered(): boolean {
    return this.#matches !== null
  }

  /** The rows that are held as one list; null if they are held in parts. */
  get #list(): readonly NewPlant[] | null {
    return this.#foundPlants ?? this.#sortedPlants?.plants ?? null
  }

  row(at: number): NewPlant | undefined {
    return this.#list ? this.#list[at] : this.parts.row(at)
  }

  /** Some rows in their order; null if not all of them are held. */
  range(first: number, count: number): readonly NewPlant[] | null {
    const plants = Array.from({ length: count }, (_, offset) => this.row(first + offset))
    return plants.every((plant) => plant !== undefined) ? plants : null
  }

  /** The row of a plant; -1 if it is not held. */
  rowOf(id: bigint): number {
    const plant = this.plant(id)
    if (!this.#list) return plant ? this.parts.rowOf(id) : -1
    return rowAmong(this.#list, plant, this.#sortedPlants?.compare ?? this.parts.order.compare)
  }

  /** A plant that is held. */
  plant(id: bigint): NewPlant | undefined {
    const plant = this.parts.row(this.parts.rowOf(id))
    return plant?.id === id ? plant : undefined
  }

  /** The plants before and after a plant, which may be missing in the list; undefined where none is held. */
  neighbours(id: bigint): readonly [before: NewPlant | undefined, after: NewPlant | undefined] {
    const at = this.rowOf(id)
    if (at >= 0) return [this.row(at - 1), this.row(at + 1)]
    if (this.#list) return [undefined, undefined]
    const next = this.parts.rowOf(id)
    return [this.row(next - 1), this.row(next)]
  }

  /** The plants that are held, in the order of the table. */
  heldPlants(): readonly NewPlant[] {
    return this.#foundPlants ?? this.all()
  }

  /** Like {@link heldPlants}, without the filter of the page's own search. */
  all(): readonly NewPlant[] {
    return this.#sortedPlants?.plants ?? [...this.parts.heldPlants()]
  }

  isHidden(id: bigint): boolean {
    return this.#pending.get(id) === null
  }

  /** Shows a plant so until {@link clearPending}, even if it is read as it is stored; null: not at all. */
  setPending(id: bigint, plant: NewPlant | null): void {
    this.#pending.set(id, plant)
  }

  /** Drops the pending change of a plant. */
  clearPending(id: bigint): void {
    this.#pending.delete(id)
  }

  /** Inserts or updates plants that belong to the list, removes others. False if the rows must be sorted again. */
  setAll(changes: PlantChanges): boolean {
    const changedRows = new Map<bigint, NewPlant | null>()
    for (const [id, plant] of changes)
      changedRows.set(id, plant && this.belongs(plant) ? plant : null)
    if (this.#reads > 0)
      for (const [id, plant] of changedRows) this.#changesDuringRead.set(id, plant)
    const isInOrder = this.#applyAll(changedRows)
    this.publish()
    return isInOrder
  }

  /** Remembers all changes until {@link endRead}. */
  beginRead(): void {
    this.#reads += 1
  }

  endRead(): void {
    this.#reads -= 1
    if (this.#reads === 0) this.#changesDuringRead.clear()
  }

  /** Replaces a part by its parts that were read. */
  replace(part: Part, others: readonly Part[]): void {
    this.parts.replace(
      part,
      others.map((other) => this.#withPending(other)),
    )
    this.#reapplyChanges()
    if (!this.#list) this.parts.forgetOldest()
  }

  /** Shows sorted plants, with the changes since they were read. */
  sort(plants: NewPlant[], compare: Compare): void {
    this.#sortedPlants = new SortedPlants(plants, compare)
    this.#reapplyChanges()
    this.publish()
  }

  /** Shows only the held plants that match; null: all of them, from the next {@link publish} on. */
  filter(matches: ((plant: NewPlant) => boolean) | null): void {
    this.#matches = matches
  }

  /** Starts over; the reads in progress no longer count. */
  restart(): void {
    this.#changesDuringRead.clear()
    this.#reads = 0
  }

  /** Returns to the order of ids. */
  unsort(): void {
    this.#sortedPlants = null
  }

  publish(): void {
    const expectedCount = this.expectedCount()
    if (expectedCount !== undefined) this.parts.resizeTo(expectedCount)
    this.#foundPlants = this.#matches && this.all().filter(this.#matches)
    batch(() => {
      const readParts = this.parts.all.filter(({ isRead }) => isRead)
      this.readCount.value = readParts.reduce((sum, { count }) => sum + count, 0)
      this.count.value = this.#list?.length ?? this.parts.total
      this.foundCount.value = this.#list?.length ?? this.readCount.value
      this.isComplete.value = readParts.length === this.parts.all.length
      if (Math.max(this.readCount.value, expectedCount ?? 0) > MAX_SORTED)
        this.isTooLong.value = true
      this.version.value += 1
    })
  }

  clear(): void {
    this.#pending.clear()
    this.#sortedPlants = null
    this.#matches = null
    this.parts.reset(ASCENDING)
    batch(() => {
      this.publish()
      this.isTooLong.value = false
      this.count.value = 0
    })
  }

  #reapplyChanges(): void {
    const all = [...this.#changesDuringRead]
    for (let at = 0; at < all.length; at += MAX_INSERTED) {
      this.#applyAll(new Map(all.slice(at, at + MAX_INSERTED)))
    }
  }

  /** Like {@link setAll}, but does not publish. */
  #applyAll(changes: PlantChanges): boolean {
    const isInOrder = this.#sortedPlants?.applyAll(changes, (id) => this.plant(id))
    this.parts.applyChanges(changes)
    return isInOrder ?? true
  }

  #withPending(part: Part): Part {
    if (!part.rows || this.#pending.size === 0) return part
    const rows = part.rows
      .map((plant) => this.#pending.get(plant.id) ?? (this.isHidden(plant.id) ? null : plant))
      .filter((plant) => plant !== null)
      .filter(this.belongs)
    return { ...part, rows, count: rows.length }
  }
}
