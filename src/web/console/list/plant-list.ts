// The plants that the table shows: the search, the order, and the rows. Up to 100,000 stored plants, all are read after the
// first page: the page searches and sorts them.

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
import { matcherOf } from './local-search.ts'
import { type PlantChanges, PlantRows } from './plant-rows.ts'
import { Reader, type ReadOutcome } from './reader.ts'
import { Tags } from './tags.ts'

/** The sentence that a list is too long for an order. */
const explainTooLong = (by: SortKey): string =>
  `Sorting by ${by} works up to ${MAX_SORTED.toLocaleString()} plants. Search for something first`

const CREATED_SHOWN_MS = 5000

export class PlantList {
  readonly query = signal<Query>({})
  /** The search being typed, which refines the other. */
  readonly typedQuery = signal<Query | null>(null)
  /** The search that the service answers; the page itself searches the names in a list that it holds. */
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
  readonly reader: Reader
  readonly tags: Tags
  /** Applies the unsaved texts to a stored plant. */
  withUnsaved: (plant: NewPlant) => NewPlant = (plant) => plant
  /** The number of stored plants. */
  readonly #storedCount = signal<number | undefined>(undefined)
  #readingAll: Promise<ReadOutcome> | null = null
  #createdTimer: ReturnType<typeof setTimeout> | undefined

  /** `onView` is called with each view; `isCorrected`: the URL requested it, or an invalid one that was replaced. */
  constructor(
    readonly session: Session,
    readonly announce: (text: string) => void,
    readonly onView: (view: View, isCorrected: boolean) => void,
  ) {
    this.reader = new Reader(session, this.rows, this.serviceQuery)
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
    return textOf(this.serviceQuery.value) !== textOf(this.visibleQuery)
  }

  /** Shows a view, or reads it again if it is the current one. */
  async open(view: View, isCorrected = false): Promise<void> {
    if (this.rows.count.value > 0 && isSameView(view, this.view)) return this.refresh()
    this.onView(view, isCorrected)
    await this.#show(view)
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

  /** Shows the results of a search while it is typed; null for the earlier results. */
  async searchTyped(query: Query | null): Promise<void> {
    const typedQuery = query && !isEverything(query) ? query : null
    if (textOf(typedQuery ?? {}) === textOf(this.typedQuery.value ?? {})) return
    this.typedQuery.value = typedQuery
    if (textOf(this.#nextServiceQuery) !== textOf(this.serviceQuery.value))
      return this.#show(this.view)
    this.#search()
    await this.#readIfNeeded()
  }

  /** Removes a part of the search. */
  removeTerm(key: keyof Query): Promise<void> {
    const { [key]: _, ...others } = this.query.value
    return this.show(others)
  }

  /** Sorts by a column, or reverses the order if it is sorted by it. */
  async sortBy(by: SortKey): Promise<void> {
    if (by !== 'id' && this.rows.isTooLong.value) return this.announce(explainTooLong(by))
    const sort = toggleSort(this.sort.value, by)
    await this.open({ query: this.query.value, sort })
    if (sort === this.sort.value)
      this.announce(
        `Sorted by ${by === 'id' ? 'ID' : by}, ${sort.isDescending ? 'descending' : 'ascending'}`,
      )
  }

  /** Reads the rows again; until then, they stay. */
  readonly refresh = (): void => {
    this.tags.markStale()
    this.#supersede()
    this.#readAgain()
    this.rows.publish()
    void this.#readIfNeeded()
  }

  /** Forgets everything. */
  close(): void {
    this.#supersede()
    this.reader.stop()
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

  /** Sets the number of stored plants, which decides who searches. */
  setStoredCount(storedCount: number | undefined): void {
    if (storedCount === this.#storedCount.value) return
    this.tags.markStale()
    this.#storedCount.value = storedCount
    this.rows.publish()
    // Before its first page, a list is not opened.
    if (this.rows.readCount.value > 0) void this.#readIfNeeded()
  }

  /** Reads every plant of the list, and sorts and searches them. */
  readAll(): Promise<ReadOutcome> {
    const { generation } = this.reader
    this.#readingAll ??= this.reader
      .whileReadingAll(() => this.#sortAll())
      .finally(() => {
        if (generation === this.reader.generation) this.#readingAll = null
      })
    return this.#readingAll
  }

  /** Reads the plants that the table shows, in its order, or null if the service lists them so. */
  get localResults(): (() => Promise<readonly NewPlant[]>) | null {
    if (!this.searchesLocally && this.sort.value.by === 'id') return null
    return async () => {
      if (!this.isLive.value) this.refresh()
      if ((await this.readAll()) === 'all') return this.rows.heldPlants()
      throw new Error(this.reader.failure.value ?? 'not all plants could be read')
    }
  }

  /** Inserts or updates a plant as it is stored. */
  put(plant: NewPlant): void {
    this.putAll([plant])
  }

  /** Adds a plant that was created here, and marks it for a while; false if the search does not find it. */
  add(plant: NewPlant): boolean {
    this.putAll([plant], true)
    if (!matcherOf(this.visibleQuery)(plant)) return false
    this.createdId.value = plant.id
    clearTimeout(this.#createdTimer)
    this.#createdTimer = setTimeout(() => {
      this.createdId.value = null
    }, CREATED_SHOWN_MS)
    return true
  }

  /** Like {@link put}, for many plants. */
  putAll(plants: readonly NewPlant[], isAdded = false): void {
    const changes = new Map(plants.map((plant) => [plant.id, this.withUnsaved(plant)]))
    for (const plant of plants) {
      const visiblePlant = changes.get(plant.id)
      if (visiblePlant === plant) this.rows.clearPending(plant.id)
      else if (visiblePlant) this.rows.setPending(plant.id, visiblePlant)
    }
    this.rows.setAll(changes, isAdded)
  }

  /** Shows or hides plants as pending changes leave them, until {@link put} replaces these. */
  showPending(changes: PlantChanges): void {
    for (const [id, plant] of changes) this.rows.setPending(id, plant)
    this.rows.setAll(changes)
  }

  /** Shows changes by others, below unsaved texts, and except of plants that are being deleted here. */
  changeAll(changes: ReadonlyMap<bigint, Plant | null>): void {
    this.tags.markStale()
    const visibleChanges = new Map<bigint, NewPlant | null>()
    for (const [id, after] of changes) {
      if (this.rows.isHidden(id)) continue
      visibleChanges.set(id, after && this.withUnsaved({ id, ...after }))
    }
    this.rows.setAll(visibleChanges)
  }

  /** Removes a plant that is no longer stored. */
  remove(id: bigint): void {
    this.rows.clearPending(id)
    this.rows.setAll(new Map([[id, null]]))
  }

  /** True if the page can hold every stored plant, as far as it is known. */
  get isShort(): boolean {
    return this.#storedCount.value !== undefined && this.#storedCount.value <= MAX_SORTED
  }

  #expectedCount(): number | undefined {
    return isEverything(this.serviceQuery.value) ? this.#storedCount.value : undefined
  }

  #readAgain(): void {
    this.readAt.value = performance.now()
    this.reader.rewind()
  }

  #supersede(): void {
    this.reader.supersede()
    this.#readingAll = null
  }

  /** The search to ask the service for: if the page can hold all plants, it searches the names, and what is typed. */
  get #nextServiceQuery(): Query {
    if (!this.isShort) return this.visibleQuery
    const { name: _, ...others } = this.query.value
    return others
  }

  async #show(view: View): Promise<void> {
    this.#supersede()
    this.#reset(view)
    this.#search()
    await this.reader.readFirst()
    await this.#readIfNeeded()
  }

  #reset({ query, sort }: View): void {
    const isDescending = sort.by === 'id' && sort.isDescending
    const { rows } = this
    const isReversed = rows.isDescending !== isDescending
    batch(() => {
      this.query.value = query
      const serviceQuery = this.#nextServiceQuery
      const isOther = textOf(serviceQuery) !== textOf(this.serviceQuery.value)
      if (isOther || sortText(sort) !== sortText(this.sort.value)) rows.unsort()
      this.reader.failure.value = null
      this.serviceQuery.value = serviceQuery
      this.sort.value = sort
      if (isOther) rows.isTooLong.value = false
      if (isOther || isReversed || (rows.count.value === 0 && !rows.isFiltered)) {
        rows.filter(null)
        rows.reset(isDescending)
        this.#readAgain()
      } else if (this.searchesLocally && !this.isLive.value) this.#readAgain()
      rows.publish()
    })
  }

  /** Shows the results of the page's own search, if there is one. */
  #search(): void {
    const isSearching = this.searchesLocally
    if (!isSearching && !this.rows.isFiltered) return
    this.rows.filter(isSearching ? matcherOf(this.visibleQuery) : null)
    this.rows.publish()
  }

  /** Reads all plants of a list that the page can hold, or that is sorted by a text. */
  async #readIfNeeded(): Promise<void> {
    if (!this.isShort && this.sort.value.by === 'id') return
    const { generation } = this.reader
    const outcome = await this.readAll()
    if (outcome === 'too many' && generation === this.reader.generation) await this.#giveUp()
  }

  /** Leaves a list that turned out to be too long to the service, in the order of ids. */
  async #giveUp(): Promise<void> {
    const { by } = this.sort.value
    // More were stored since they were counted.
    if (this.isShort) this.#storedCount.value = MAX_SORTED + 1
    if (by !== 'id') {
      this.announce(explainTooLong(by))
      return this.open({ query: this.query.value, sort: BY_ID }, true)
    }
    if (this.searchesLocally) await this.#show(this.view)
  }

  async #sortAll(): Promise<ReadOutcome> {
    const { generation } = this.reader
    const isSorted = this.reader.isDone && this.rows.isSorted
    const outcome = await this.reader.readAll()
    if (outcome !== 'all' || generation !== this.reader.generation) return outcome
    const { value: sort } = this.sort
    if (sort.by !== 'id' && !isSorted) {
      const compare = comparatorOf(sort)
      const sortedPlants = await sortInSlices(this.rows.byId(), compare)
      if (generation !== this.reader.generation) return outcome
      this.rows.sort(sortedPlants, compare)
    }
    this.#search()
    return outcome
  }
}
