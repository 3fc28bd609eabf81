// The plants that the table shows: the search, the order, and the rows. To sort by a text, or to search in the page, it
// holds all of them.

import { batch, signal } from '@preact/signals'
import type { NewPlant, Plant } from '../../../client/client.ts'
import { isEverything, matches, type Query, refineQuery, textOf } from '../query.ts'
import type { Session } from '../session.ts'
import {
  BY_ID,
  comparatorOf,
  MAX_SORTED,
  type Sort,
  type SortKey,
  sortInSlices,
  sortText,
  toggleSort,
} from '../sort.ts'
import { isSameView, type View } from '../view.ts'
import { ASCENDING, DESCENDING } from './id-order.ts'
import { foldInSlices, matcherOf } from './local-search.ts'
import { PartReader, RETRY_MS, type ReadOutcome } from './part-reader.ts'
import { PlantRows } from './plant-rows.ts'
import type { PlantChanges } from './sorted-plants.ts'
import { Tags } from './tags.ts'

/** The sentence that a list is too long for an order. */
export const explainTooLong = (by: SortKey): string =>
  `Sorting by ${by} works up to ${MAX_SORTED.toLocaleString()} plants. Search for something first`

const CREATED_SHOWN_MS = 5000

export class PlantList {
  readonly query = signal<Query>({})
  /** The search being typed: it filters the plants that were read. */
  readonly typedQuery = signal<Query | null>(null)
  /** The plants that the service lists: those of the search, or all of them where the page searches. */
  readonly serviceQuery = signal<Query>({})
  readonly sort = signal<Sort>(BY_ID)
  readonly rows = new PlantRows(
    (plant) => matches(this.serviceQuery.value, plant),
    () => this.#expectedCount(),
  )
  /** The time of the last read from the start, in milliseconds on a monotonic clock. */
  readonly readAt = signal(0)
  /** True while the rows follow the changes of others. */
  readonly isLive = signal(false)
  /** The plant that was just created here. */
  readonly createdId = signal<bigint | null>(null)
  readonly reader: PartReader
  readonly tags: Tags
  /** Applies the unsaved texts to a stored plant. */
  withUnsaved: (plant: NewPlant) => NewPlant = (plant) => plant
  /** The number of stored plants. */
  readonly #storedCount = signal<number | undefined>(undefined)
  /** Counts the searches of the page, of which the last is shown. */
  #searches = 0
  #createdTimer: ReturnType<typeof setTimeout> | undefined

  /** `onView` is called with each view; `isCorrected`: the URL requested it, or an invalid one that was replaced. */
  constructor(
    readonly session: Session,
    readonly announce: (text: string) => void,
    readonly onView: (view: View, isCorrected: boolean) => void,
  ) {
    this.reader = new PartReader(session, this.rows, this.serviceQuery)
    this.tags = new Tags(session)
  }

  get view(): View {
    return { query: this.query.value, sort: this.sort.value }
  }

  /** The search whose results are on screen. */
  get visibleQuery(): Query {
    return this.typedQuery.value
      ? refineQuery(this.query.value, this.typedQuery.value)
      : this.query.value
  }

  /** True if the page itself finds the plants of the search. */
  get searchesLocally(): boolean {
    return textOf(this.serviceQuery.value) !== textOf(this.query.value)
  }

  /** Shows a view, or reads it again if it is the current one. */
  async open(view: View, isCorrected = false): Promise<void> {
    if (this.rows.count.value > 0 && isSameView(view, this.view)) return this.refresh()
    this.onView(view, isCorrected)
    this.reader.restart()
    this.#reset(view)
    await Promise.all([this.reader.readFirst(), this.#search()])
    await this.#sortAndSearch()
  }

  /** Shows other plants, in the same order. */
  show(query: Query): Promise<void> {
    this.typedQuery.value = null
    return this.open({ query, sort: this.sort.value })
  }

  /** Narrows the current search by another one, which replaces the same parts. */
  refine(query: Query): Promise<void> {
    return this.show(refineQuery(this.query.value, query))
  }

  /** Shows the results of a search while it is typed; null: the earlier results. */
  async searchTyped(query: Query | null): Promise<void> {
    const typedQuery = query && !isEverything(query) ? query : null
    if (textOf(typedQuery ?? {}) === textOf(this.typedQuery.value ?? {})) return
    this.typedQuery.value = typedQuery
    await this.#search()
    const isWaiting = this.needsAll && !this.rows.parts.isHeld
    if (isWaiting && !this.reader.isReadingAll.value) await this.#sortAndSearch()
  }

  /** Removes a part of the search. */
  removeTerm(key: keyof Query): Promise<void> {
    const { [key]: _, ...others } = this.query.value
    return this.show(others)
  }

  /** Sorts by a column, or reverses the order if it is sorted by it. */
  async sortBy(by: SortKey): Promise<void> {
    if (by !== 'id' && this.rows.isTooLong.value) return this.announce(explainTooLong(by))
    await this.open({ query: this.query.value, sort: toggleSort(this.sort.value, by) })
  }

  /** Reads the rows again as they come into view; until then, they stay. */
  readonly refresh = (): void => {
    this.tags.markStale()
    this.reader.restart()
    this.#markRowsStale()
    this.rows.publish()
    void this.#sortAndSearch()
  }

  /** Forgets everything. */
  close(): void {
    this.reader.restart()
    this.tags.clear()
    this.#storedCount.value = undefined
    batch(() => {
      this.query.value = {}
      this.typedQuery.value = null
      this.serviceQuery.value = {}
      this.sort.value = BY_ID
      this.rows.clear()
    })
  }

  /** The number of plants that the service lists, as far as it is known. */
  get total(): number | undefined {
    return this.rows.isComplete.value ? this.rows.readCount.value : this.#expectedCount()
  }

  /** Sets the number of stored plants, for the length of the scroll bar. */
  setStoredCount(storedCount: number | undefined): void {
    if (storedCount !== this.#storedCount.value) this.tags.markStale()
    this.#storedCount.value = storedCount
    const { rows } = this
    const expectedCount = this.#expectedCount()
    if (expectedCount === undefined || rows.isComplete.value) return
    if (rows.count.value !== expectedCount) rows.publish()
  }

  readAll(): Promise<ReadOutcome> {
    return this.reader.whileReadingAll(() => this.reader.readAll())
  }

  /** Returns a function that reads the results of the page's own search, in the order of ids; null if the service searches. */
  get localResults(): (() => Promise<readonly NewPlant[]>) | null {
    if (!this.searchesLocally) return null
    const { value: query } = this.query
    return async () => {
      if ((await this.readAll()) !== 'all')
        throw new Error(this.reader.failure.value ?? 'not all plants could be read')
      const plants = [...this.rows.parts.heldPlants()].filter(matcherOf(query))
      return this.rows.parts.order.isDescending ? plants.reverse() : plants
    }
  }

  /** Inserts or updates a plant as it is stored. */
  put(plant: NewPlant): void {
    this.putAll([plant])
  }

  /** Adds a plant that was created here, and marks it for a while; false if the search does not find it. */
  add(plant: NewPlant): boolean {
    this.put(plant)
    if (!matcherOf(this.visibleQuery)(plant)) return false
    this.createdId.value = plant.id
    clearTimeout(this.#createdTimer)
    this.#createdTimer = setTimeout(() => {
      this.createdId.value = null
    }, CREATED_SHOWN_MS)
    return true
  }

  /** Like {@link put}, for many plants. */
  putAll(plants: readonly NewPlant[]): void {
    const changes = new Map(plants.map((plant) => [plant.id, this.withUnsaved(plant)]))
    for (const plant of plants) {
      const visiblePlant = changes.get(plant.id)
      if (visiblePlant === plant) this.rows.clearPending(plant.id)
      else if (visiblePlant) this.rows.setPending(plant.id, visiblePlant)
    }
    this.#setAll(changes)
  }

  /** Shows or hides plants as pending changes leave them, until {@link put} replaces these. */
  showPending(changes: PlantChanges): void {
    for (const [id, plant] of changes) this.rows.setPending(id, plant)
    this.#setAll(changes)
  }

  /** Shows changes by others, below unsaved texts, and except of plants that are being deleted here. */
  changeAll(changes: ReadonlyMap<bigint, Plant | null>): void {
    this.tags.markStale()
    const visibleChanges = new Map<bigint, NewPlant | null>()
    for (const [id, after] of changes) {
      if (this.rows.isHidden(id)) continue
      visibleChanges.set(id, after && this.withUnsaved({ id, ...after }))
    }
    this.#setAll(visibleChanges)
  }

  /** Removes a plant that is no longer stored. */
  remove(id: bigint): void {
    this.rows.clearPending(id)
    this.#setAll(new Map([[id, null]]))
  }

  #setAll(changes: PlantChanges): void {
    if (!this.rows.setAll(changes)) void this.#sortAndSearch()
  }

  /** True if the page can hold every plant, as far as it is known. */
  get #isShort(): boolean {
    return this.#storedCount.value !== undefined && this.#storedCount.value <= MAX_SORTED
  }

  /** True if the view needs every plant. */
  get needsAll(): boolean {
    const isTyped = this.typedQuery.value !== null && this.#isShort
    return this.sort.value.by !== 'id' || this.searchesLocally || isTyped
  }

  #expectedCount(): number | undefined {
    return isEverything(this.serviceQuery.value) ? this.#storedCount.value : undefined
  }

  /** Marks every row as outdated. */
  #markRowsStale(): void {
    this.readAt.value = performance.now()
    for (const part of this.rows.parts.all) part.isStale = true
  }

  /** The search for the service: all plants, if they are few enough for the page to search. */
  #serviceQueryFor(query: Query): Query {
    const { name, id } = query
    return name !== undefined && id === undefined && this.#isShort ? {} : query
  }

  #reset({ query, sort }: View): void {
    const serviceQuery = this.#serviceQueryFor(query)
    const isOther = textOf(serviceQuery) !== textOf(this.serviceQuery.value)
    const isDescending = sort.by === 'id' && sort.isDescending
    const { rows } = this
    const isReversed = rows.parts.order.isDescending !== isDescending
    batch(() => {
      if (isOther || sortText(sort) !== sortText(this.sort.value)) rows.unsort()
      this.reader.failure.value = null
      this.query.value = query
      this.serviceQuery.value = serviceQuery
      this.sort.value = sort
      if (isOther) rows.isTooLong.value = false
      if (isOther || isReversed || (rows.count.value === 0 && !rows.isFiltered)) {
        rows.filter(null)
        rows.parts.reset(isDescending ? DESCENDING : ASCENDING)
        this.readAt.value = performance.now()
      } else if (this.searchesLocally && !this.isLive.value) this.#markRowsStale()
      rows.publish()
    })
  }

  /** Shows the results of the page's own search, if there is one. */
  async #search(): Promise<void> {
    const search = ++this.#searches
    const isSearching = this.searchesLocally || this.typedQuery.value !== null
    if (isSearching) await foldInSlices(this.rows.all())
    else if (!this.rows.isFiltered) return
    if (search !== this.#searches) return
    this.rows.filter(isSearching ? matcherOf(this.visibleQuery) : null)
    this.rows.publish()
  }

  /**
   * Sorts the plants as the view says, and searches them; too many stay in the order of ids, or are searched by the
   * service. Retries after a failed read.
   */
  async #sortAndSearch(): Promise<void> {
    if (!this.needsAll) return this.#search()
    const { generation } = this.reader
    const isSuperseded = () => generation !== this.reader.generation
    for (;;) {
      const outcome = await this.reader.whileReadingAll(() => this.#sortAll())
      if (isSuperseded() || outcome === 'all') return
      if (outcome === 'too many') break
      await new Promise((resolve) => setTimeout(resolve, RETRY_MS))
      if (isSuperseded()) return
    }
    if (this.searchesLocally) {
      // More were stored since they were counted.
      this.#storedCount.value = MAX_SORTED + 1
      this.reader.restart()
      this.#reset(this.view)
      await Promise.all([this.reader.readFirst(), this.#search()])
      return this.#sortAndSearch()
    }
    const { by } = this.sort.value
    if (by === 'id') return
    this.announce(explainTooLong(by))
    await this.open({ query: this.query.value, sort: BY_ID }, true)
  }

  async #sortAll(): Promise<ReadOutcome> {
    const { generation } = this.reader
    const outcome = await this.reader.readAll()
    if (outcome !== 'all' || generation !== this.reader.generation) return outcome
    const { value: sort } = this.sort
    if (sort.by !== 'id') {
      const compare = comparatorOf(sort)
      const sortedPlants = await sortInSlices([...this.rows.parts.heldPlants()], compare)
      if (generation !== this.reader.generation) return outcome
      this.rows.sort(sortedPlants, compare)
    }
    await this.#search()
    return outcome
  }
}
