// The plants that the table shows: the search, the order, and the rows that were read. Sorted by name or tag, all are held.

import { batch, signal } from '@preact/signals'
import type { NewPlant, Plant } from '../../../client/client.ts'
import { isEverything, matches, type Query, textOf } from '../query.ts'
import type { Session } from '../session.ts'
import {
  BY_ID,
  comparatorOf,
  MAX_SORTED,
  pressed,
  type Sort,
  type SortKey,
  sortInSlices,
} from '../sort.ts'
import { isSameView, type View } from '../view.ts'
import { ASCENDING, DESCENDING } from './id-order.ts'
import { PartReader, RETRY_MS, type ReadOutcome } from './part-reader.ts'
import { PlantRows } from './plant-rows.ts'
import { TagCounter } from './tag-counts.ts'

/** The sentence that a list is too long for an order. */
export const tooLongFor = (by: SortKey): string =>
  `Sorting by ${by} works up to ${MAX_SORTED.toLocaleString()} plants. Search for something first`

export class PlantList {
  readonly query = signal<Query>({})
  readonly sort = signal<Sort>(BY_ID)
  readonly rows = new PlantRows()
  /** The time of the last read from the start, in milliseconds on a monotonic clock. */
  readonly readAt = signal(0)
  /** True while the rows follow the changes of others. */
  readonly isLive = signal(false)
  readonly reader: PartReader
  readonly tags: TagCounter
  /** The number of stored plants. */
  #stored: number | undefined

  /** `onView` is called with each view; `isCorrected`: the URL requested it, or an invalid one that was replaced. */
  constructor(
    readonly session: Session,
    readonly announce: (text: string) => void,
    readonly onView: (view: View, isCorrected: boolean) => void,
  ) {
    this.reader = new PartReader(session, this.rows, this.query)
    this.tags = new TagCounter(this.reader)
  }

  get view(): View {
    return { query: this.query.value, sort: this.sort.value }
  }

  /** Shows a view, or reads it again if it is the current one. */
  async open(view: View, isCorrected = false): Promise<void> {
    if (this.rows.count.value > 0 && isSameView(view, this.view)) return this.refresh()
    this.onView(view, isCorrected)
    this.tags.keep()
    this.reader.restart()
    this.#reset(view)
    await this.reader.readFirst()
    await this.#arrange()
  }

  /** Shows other plants, in the same order. */
  show(query: Query): Promise<void> {
    return this.open({ query, sort: this.sort.value })
  }

  /** Removes a part of the search. */
  drop(key: keyof Query): Promise<void> {
    const { [key]: _, ...others } = this.query.value
    return this.show(others)
  }

  /** Sorts by a column, or reverses the order if it is sorted by it. */
  async sortBy(by: SortKey): Promise<void> {
    if (by !== 'id' && this.rows.isTooLong.value) return this.announce(tooLongFor(by))
    await this.open({ query: this.query.value, sort: pressed(this.sort.value, by) })
  }

  /** Reads the rows again as they come into view; until then, they stay. */
  readonly refresh = (): void => {
    this.reader.restart()
    this.readAt.value = performance.now()
    for (const part of this.rows.parts.all) part.isStale = true
    this.rows.publish()
    void this.#arrange()
  }

  /** Forgets everything. */
  close(): void {
    this.reader.restart()
    this.tags.clear()
    this.#stored = undefined
    batch(() => {
      this.query.value = {}
      this.sort.value = BY_ID
      this.rows.clear()
    })
  }

  /** The number of plants that the search finds, as far as it is known. */
  get total(): number | undefined {
    return this.rows.isComplete.value ? this.rows.found.value : this.#expected()
  }

  /** Sets the number of stored plants, for the length of the scroll bar. */
  expect(stored: number | undefined): void {
    this.#stored = stored
    this.rows.expect(this.#expected())
  }

  readAll(): Promise<ReadOutcome> {
    return this.reader.withAll(() => this.reader.readAll())
  }

  /** Reads all plants to count their tags, unless they are too many. */
  async readTags(): Promise<void> {
    if ((this.#stored ?? 0) <= MAX_SORTED) await this.tags.read()
  }

  /** Adds a new plant in its place, or updates a changed one. */
  put(plant: NewPlant): void {
    this.rows.unhide(plant.id)
    this.rows.set(plant.id, matches(this.query.value, plant) ? plant : null)
  }

  /** Like {@link put}, for many plants. */
  putAll(plants: readonly NewPlant[]): void {
    for (const { id } of plants) this.rows.unhide(id)
    const { value: query } = this.query
    const changes = new Map(plants.map((it) => [it.id, matches(query, it) ? it : null]))
    if (!this.rows.setAll(changes)) void this.#arrange()
  }

  /** Shows a change by others, unless the plant is about to be deleted here. */
  change(id: bigint, plant: Plant | null): void {
    if (this.rows.isHidden(id)) return
    this.rows.set(
      id,
      plant && matches(this.query.value, { id, ...plant }) ? { id, ...plant } : null,
    )
  }

  /** Removes a plant that is no longer stored. */
  remove(id: bigint): void {
    this.rows.unhide(id)
    this.rows.set(id, null)
  }

  #expected(): number | undefined {
    return isEverything(this.query.value) ? this.#stored : undefined
  }

  #reset({ query, sort }: View): void {
    const isOther = textOf(query) !== textOf(this.query.value)
    const isDescending = sort.by === 'id' && sort.isDescending
    const { rows } = this
    const isTurned = rows.parts.order.isDescending !== isDescending
    batch(() => {
      rows.unsort()
      this.reader.failure.value = null
      this.query.value = query
      this.sort.value = sort
      if (isOther) rows.isTooLong.value = false
      if (isOther || isTurned || rows.count.value === 0) {
        rows.reset(isDescending ? DESCENDING : ASCENDING)
        this.readAt.value = performance.now()
      }
      rows.expect(this.#expected())
      rows.publish()
    })
  }

  /** Sorts the plants as the view says; too many stay in the order of ids. Retries after a failed read. */
  async #arrange(): Promise<void> {
    const { by } = this.sort.value
    if (by === 'id') return
    const { generation } = this.reader
    const isOver = () => generation !== this.reader.generation
    for (;;) {
      const outcome = await this.reader.withAll(() => this.#sortAll())
      if (isOver() || outcome === 'all') return
      if (outcome === 'too many') break
      await new Promise((resolve) => setTimeout(resolve, RETRY_MS))
      if (isOver()) return
    }
    this.announce(tooLongFor(by))
    await this.open({ query: this.query.value, sort: BY_ID }, true)
  }

  async #sortAll(): Promise<ReadOutcome> {
    const { generation } = this.reader
    const outcome = await this.reader.readAll()
    if (outcome !== 'all' || generation !== this.reader.generation) return outcome
    const compare = comparatorOf(this.sort.value)
    const sorted = await sortInSlices([...this.rows.parts.held()], compare)
    if (generation === this.reader.generation) this.rows.sort(sorted, compare)
    return 'all'
  }
}
