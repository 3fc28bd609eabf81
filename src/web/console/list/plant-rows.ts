// The rows of the table: in the order of ids, in parts of which some are held; or all of them sorted, or filtered by the
// page's own search. Keeps changes made during a read.

import { batch, signal } from '@preact/signals'
import type { NewPlant } from '../../../client/client.ts'
import { type Compare, MAX_SORTED } from '../sort.ts'
import { ASCENDING } from './id-order.ts'
import { createReadPart, type Part } from './part.ts'
import { PartList } from './part-list.ts'
import { MAX_INSERTED, type PlantChanges, SortedPlants } from './sorted-plants.ts'

// Plants added at the end extend the last part up to this length, then begin another.
const MAX_PART_ROWS = 5000
// More changes than this are applied in one pass.
const MAX_SINGLE_CHANGES = 100

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
  /** The results of the page's own search; null without one. */
  #filteredPlants: SortedPlants | null = null
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
    return this.#filteredPlants !== null
  }

  /** The rows that are held as one list; null if they are held in parts. */
  get #currentOrder(): SortedPlants | null {
    return this.#filteredPlants ?? this.#sortedPlants
  }

  row(at: number): NewPlant | undefined {
    return this.#currentOrder ? this.#currentOrder.plants[at] : this.parts.row(at)
  }

  /** The row of a plant; -1 if it is not held. */
  rowOf(id: bigint): number {
    if (this.#currentOrder) return this.#currentOrder.rowOf(id, this.plant(id))
    const at = this.parts.rowOf(id)
    return this.parts.row(at)?.id === id ? at : -1
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
    if (this.#currentOrder) return [undefined, undefined]
    const next = this.parts.rowOf(id)
    return [this.row(next - 1), this.row(next)]
  }

  /** The plants that are held, in the order of the table. */
  heldPlants(): readonly NewPlant[] {
    return this.#filteredPlants?.plants ?? this.all()
  }

  /** Like {@link heldPlants}, without the filter of the page's own search. */
  all(): readonly NewPlant[] {
    return this.#sortedPlants?.plants ?? [...this.parts.heldPlants()]
  }

  isHidden(id: bigint): boolean {
    return this.#pending.get(id) === null
  }

  /** Like {@link setAll}, until {@link clearPending}, even if the plants are stored otherwise. */
  showPending(changes: PlantChanges): boolean {
    for (const [id, plant] of changes) this.#pending.set(id, plant)
    return this.setAll(changes)
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
    const pendingParts = others.map((other) => this.#withPending(other))
    this.parts.replace(part, pendingParts)
    this.#filteredPlants?.applyAll(
      new Map<bigint, NewPlant | null>([
        ...(part.rows ?? []).map(({ id }) => [id, null] as const),
        ...pendingParts
          .flatMap(({ rows }) => rows ?? [])
          .map((plant) => [plant.id, plant] as const),
      ]),
    )
    this.#reapplyChanges()
    if (!this.#currentOrder) this.parts.forgetOldest()
  }

  /** Shows sorted plants, with the changes since they were read. */
  sort(plants: NewPlant[], compare: Compare): void {
    this.#sortedPlants = new SortedPlants(plants, compare)
    this.#reapplyChanges()
    this.publish()
  }

  /** Shows only the held plants that match, in an order. */
  filter(compare: Compare, matches: (plant: NewPlant) => boolean): void {
    this.#filteredPlants = new SortedPlants(this.all().filter(matches), compare, matches)
    this.publish()
  }

  /** Ends {@link filter}. */
  clearFilter(): void {
    this.#filteredPlants = null
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
    batch(() => {
      const readParts = this.parts.all.filter(({ isRead }) => isRead)
      this.readCount.value = readParts.reduce((sum, { count }) => sum + count, 0)
      this.count.value = this.#currentOrder?.plants.length ?? this.parts.total
      this.foundCount.value = this.#currentOrder?.plants.length ?? this.readCount.value
      this.isComplete.value = readParts.length === this.parts.all.length
      if (Math.max(this.readCount.value, expectedCount ?? 0) > MAX_SORTED)
        this.isTooLong.value = true
      this.version.value += 1
    })
  }

  clear(): void {
    this.#pending.clear()
    this.#sortedPlants = null
    this.#filteredPlants = null
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
    if (changes.size <= MAX_SINGLE_CHANGES) {
      for (const [id, plant] of changes) this.#apply(id, plant)
      return true
    }
    this.parts.applyChanges(changes)
    const areInOrder = [this.#sortedPlants, this.#filteredPlants].map(
      (sortedPlants) => sortedPlants?.applyAll(changes) ?? true,
    )
    return areInOrder.every(Boolean)
  }

  #withPending(part: Part): Part {
    if (!part.rows || this.#pending.size === 0) return part
    const rows = part.rows
      .map((plant) => this.#pending.get(plant.id) ?? (this.isHidden(plant.id) ? null : plant))
      .filter((plant) => plant !== null)
      .filter(this.belongs)
    return { ...part, rows, count: rows.length }
  }

  #apply(id: bigint, plant: NewPlant | null): void {
    const before = this.plant(id)
    this.#applyToPart(id, plant)
    this.#sortedPlants?.apply(id, plant, before)
    this.#filteredPlants?.apply(id, plant, before)
  }

  #applyToPart(id: bigint, plant: NewPlant | null): void {
    const { parts } = this
    const part = parts.partOf(id)
    if (!part?.rows) return
    const at = parts.indexIn(part.rows, id)
    if (plant && at === part.rows.length && at >= MAX_PART_ROWS) {
      const end = part.rows.at(-1)?.id ?? id
      parts.replace(part, [
        { ...part, last: end },
        createReadPart(parts.order, end, part.last, [plant]),
      ])
      return
    }
    part.rows.splice(at, part.rows[at]?.id === id ? 1 : 0, ...(plant ? [plant] : []))
    part.count = part.rows.length
    parts.reindex()
  }
}
