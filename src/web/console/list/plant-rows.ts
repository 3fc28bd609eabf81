// The rows of the table: by id in parts, of which some are held; all of them sorted; or those that the page's own
// search finds. Keeps changes made during a read.

import { batch, signal } from '@preact/signals'
import type { NewPlant } from '../../../client/client.ts'
import { type Compare, MAX_SORTED } from '../sort.ts'
import { ASCENDING, type IdOrder } from './id-order.ts'
import { type Part, readPart } from './part.ts'
import { PartList } from './part-list.ts'
import { MAX_PLACED, SortedPlants } from './sorted-plants.ts'

// Plants added at the end go into the last part up to this length, then into another one.
const MAX_PART_ROWS = 5000
// More changes than this are put in their places in one pass.
const MAX_SINGLE = 100

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

  /** The number of stored plants if all are shown. */
  #expected: number | undefined
  /** All plants in the order of the page; null in the order of ids. */
  #sorted: SortedPlants | null = null
  /** The results of the page's own search; null without one. */
  #narrowed: SortedPlants | null = null
  /** The plants that are shown as they will be; null: not at all. */
  readonly #pending = new Map<bigint, NewPlant | null>()
  /** The changes since a read began, which it may have missed. */
  readonly #recent = new Map<bigint, NewPlant | null>()
  #reads = 0

  /** `lists`: true if a plant belongs to the list. */
  constructor(readonly lists: (plant: NewPlant) => boolean) {}

  get isSorted(): boolean {
    return this.#sorted !== null
  }

  get isNarrowed(): boolean {
    return this.#narrowed !== null
  }

  /** The rows that are held as one list; null if they are held in parts. */
  get #currentOrder(): SortedPlants | null {
    return this.#narrowed ?? this.#sorted
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
    const found = this.parts.row(this.parts.rowOf(id))
    return found?.id === id ? found : undefined
  }

  /** The plants before and after a plant, which need not be in the list; undefined where none is held. */
  around(id: bigint): readonly [before: NewPlant | undefined, after: NewPlant | undefined] {
    const at = this.rowOf(id)
    if (at >= 0) return [this.row(at - 1), this.row(at + 1)]
    if (this.#currentOrder) return [undefined, undefined]
    const next = this.parts.rowOf(id)
    return [this.row(next - 1), this.row(next)]
  }

  /** The plants that are held, in the order of the table. */
  held(): readonly NewPlant[] {
    return this.#narrowed?.plants ?? this.all()
  }

  /** Like {@link held}, with those that the page's own search leaves out. */
  all(): readonly NewPlant[] {
    return this.#sorted?.plants ?? [...this.parts.heldPlants()]
  }

  isHidden(id: bigint): boolean {
    return this.#pending.get(id) === null
  }

  /** Leaves plants out until they are shown again, even if they are still stored. */
  hide(ids: readonly bigint[]): void {
    for (const id of ids) this.#pending.set(id, null)
    this.setAll(new Map(ids.map((id) => [id, null])))
  }

  /**
   * Shows plants as they will be until {@link settle}, even if they are stored otherwise. False as of {@link setAll}.
   */
  showAs(plants: readonly NewPlant[]): boolean {
    for (const plant of plants) this.#pending.set(plant.id, plant)
    return this.setAll(new Map(plants.map((plant) => [plant.id, this.lists(plant) ? plant : null])))
  }

  /** Shows a plant as it is stored from here on. */
  settle(id: bigint): void {
    this.#pending.delete(id)
  }

  /** Puts a plant in its place, or removes it. */
  set(id: bigint, plant: NewPlant | null): void {
    if (this.#reads > 0) this.#recent.set(id, plant)
    this.#place(id, plant)
    this.publish()
  }

  /** Puts many plants in their places, or removes them. False if they must be sorted again. */
  setAll(changes: ReadonlyMap<bigint, NewPlant | null>): boolean {
    if (this.#reads > 0) for (const [id, plant] of changes) this.#recent.set(id, plant)
    const isInOrder = this.#placeAll(changes)
    this.publish()
    return isInOrder
  }

  /** Keeps the changes from here on, until {@link endRead}. */
  beginRead(): void {
    this.#reads += 1
  }

  endRead(): void {
    this.#reads -= 1
    if (this.#reads === 0) this.#recent.clear()
  }

  /** Replaces a part by its parts that were read. */
  replace(part: Part, others: readonly Part[]): void {
    const pendingParts = others.map((other) => this.#asPending(other))
    this.parts.replace(part, pendingParts)
    this.#narrowed?.placeAll(
      new Map<bigint, NewPlant | null>([
        ...(part.rows ?? []).map(({ id }) => [id, null] as const),
        ...pendingParts
          .flatMap(({ rows }) => rows ?? [])
          .map((plant) => [plant.id, plant] as const),
      ]),
    )
    this.#repeatChanges()
    if (!this.#currentOrder) this.parts.forgetOldest()
  }

  /** Shows sorted plants, with the changes since they were read. */
  sort(plants: NewPlant[], compare: Compare): void {
    this.#sorted = new SortedPlants(plants, compare)
    this.#repeatChanges()
    this.publish()
  }

  /** Shows only the held plants that fit, in an order. */
  narrow(compare: Compare, fits: (plant: NewPlant) => boolean): void {
    this.#narrowed = new SortedPlants(this.all().filter(fits), compare, fits)
    this.publish()
  }

  /** Ends {@link narrow}. */
  widen(): void {
    this.#narrowed = null
  }

  /** Starts over; the reads in progress no longer count. */
  restart(): void {
    this.#recent.clear()
    this.#reads = 0
  }

  reset(order: IdOrder): void {
    this.parts.reset(order)
  }

  /** Returns to the order of ids. */
  unsort(): void {
    this.#sorted = null
  }

  /** Sets the number of rows to the stored plants; undefined: it is unknown, or only some plants are shown. */
  expect(plants: number | undefined): void {
    this.#expected = plants
    if (plants === undefined || this.isComplete.value || this.count.value === plants) return
    this.publish()
  }

  publish(): void {
    if (this.#expected !== undefined) this.parts.expect(this.#expected)
    batch(() => {
      const readParts = this.parts.all.filter(({ isRead }) => isRead)
      this.readCount.value = readParts.reduce((sum, { count }) => sum + count, 0)
      this.count.value = this.#currentOrder?.plants.length ?? this.parts.total
      this.foundCount.value = this.#currentOrder?.plants.length ?? this.readCount.value
      this.isComplete.value = readParts.length === this.parts.all.length
      if (Math.max(this.readCount.value, this.#expected ?? 0) > MAX_SORTED)
        this.isTooLong.value = true
      this.version.value += 1
    })
  }

  clear(): void {
    this.restart()
    this.#pending.clear()
    this.#sorted = null
    this.#narrowed = null
    this.#expected = undefined
    this.reset(ASCENDING)
    batch(() => {
      this.publish()
      this.isTooLong.value = false
      this.count.value = 0
    })
  }

  #repeatChanges(): void {
    const all = [...this.#recent]
    for (let at = 0; at < all.length; at += MAX_PLACED) {
      this.#placeAll(new Map(all.slice(at, at + MAX_PLACED)))
    }
  }

  /** Like {@link setAll}, without a notification. */
  #placeAll(changes: ReadonlyMap<bigint, NewPlant | null>): boolean {
    if (changes.size <= MAX_SINGLE) {
      for (const [id, plant] of changes) this.#place(id, plant)
      return true
    }
    this.parts.placeAll(changes)
    const areInOrder = [this.#sorted, this.#narrowed].map(
      (sortedPlants) => sortedPlants?.placeAll(changes) ?? true,
    )
    return areInOrder.every(Boolean)
  }

  #asPending(part: Part): Part {
    if (!part.rows || this.#pending.size === 0) return part
    const rows = part.rows
      .map((plant) => this.#pending.get(plant.id) ?? (this.isHidden(plant.id) ? null : plant))
      .filter((plant) => plant !== null)
      .filter(this.lists)
    return { ...part, rows, count: rows.length }
  }

  #place(id: bigint, plant: NewPlant | null): void {
    const before = this.plant(id)
    this.#placeInPart(id, plant)
    this.#sorted?.place(id, plant, before)
    this.#narrowed?.place(id, plant, before)
  }

  #placeInPart(id: bigint, plant: NewPlant | null): void {
    const { parts } = this
    const part = parts.partOf(id)
    if (!part?.rows) return
    const at = parts.placeIn(part.rows, id)
    if (plant && at === part.rows.length && at >= MAX_PART_ROWS) {
      const end = part.rows.at(-1)?.id ?? id
      parts.replace(part, [{ ...part, last: end }, readPart(parts.order, end, part.last, [plant])])
      return
    }
    part.rows.splice(at, part.rows[at]?.id === id ? 1 : 0, ...(plant ? [plant] : []))
    part.count = part.rows.length
    parts.index()
  }
}
