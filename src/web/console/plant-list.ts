// The plants that the table shows: which, in what order, and those that were read of them. Parts are read as they come
// into view, and dropped once many others were read; sorted by name or tag, all are held.

import { batch, signal } from '@preact/signals'
import type { NewPlant, Plant, PlantPage, Result } from '../../client/client.ts'
import { type Cursor, createPartList, type Part } from './part-list.ts'
import { createPartPages } from './part-pages.ts'
import { matches, type Query, textOf } from './query.ts'
import type { Session } from './session.ts'
import {
  BY_ID,
  type Compare,
  comparatorOf,
  MAX_SORTED,
  placeAmong,
  pressed,
  type Sort,
  type SortKey,
  sortInSlices,
} from './sort.ts'
import { type CountedTags, countTags } from './tag-counts.ts'
import { isSameView, type View } from './view.ts'

const PART_ROWS = 250
// Of longer lists, for fewer requests.
const LONG_PART_ROWS = 1000
// What others add to the end of the list is put into its last part up to here, and then into another.
const MAX_PART_ROWS = 5000
// How far from the view rows are read already.
const MARGIN_ROWS = 125
const RETRY_MS = 2000

type Outcome = 'all' | 'too many' | 'failed'

export type PlantList = ReturnType<typeof createPlantList>

/** `onView` is called when something else is shown; `isCorrected`: the address asked for it, or for what cannot be. */
export function createPlantList(
  session: Session,
  say: (text: string) => void,
  onView: (view: View, isCorrected: boolean) => void,
) {
  const parts = createPartList()
  parts.reset(false)
  /** All plants in the order of the page; null in the order of ids. */
  let sorted: NewPlant[] | null = null
  let compare: Compare = comparatorOf(BY_ID)
  // Counts restarts of the list, so that answers to earlier requests are dropped.
  let generation = 0
  // How many are at something that needs all plants.
  let readers = 0
  const loading = new Map<Part, Promise<void>>()
  const hidden = new Set<bigint>()
  const pages = createPartPages(parts, (id) => hidden.has(id))
  /** What changed while something was read or sorted, which may not have it. */
  const recent = new Map<bigint, NewPlant | null>()
  /** How many plants are stored. */
  let known: number | undefined

  const query = signal<Query>({})
  const sort = signal<Sort>(BY_ID)
  /** Increases with every change of the rows. */
  const version = signal(0)
  /** The rows of the table: those of plants, and those that stand for plants that are not read. */
  const rows = signal(0)
  /** How many plants are known to be there. */
  const found = signal(0)
  /** True if those are all. */
  const isComplete = signal(false)
  /** True if there are more than the page sorts. */
  const isTooLong = signal(false)
  /** True if all plants are being read, for what needs them. */
  const isReadingAll = signal(false)
  const failure = signal<string | null>(null)
  /** When the rows were read that were read first, in milliseconds on a monotonic clock. */
  const readAt = signal(0)
  /** True if the rows follow what others change. */
  const isLive = signal(false)

  /** The tags of all plants, as they were before some were looked for. */
  const tagsBefore = signal<CountedTags | null>(null)

  const tagsHeld = (): CountedTags => countTags(parts.loaded(), !isComplete.value)

  const isUnlimited = (): boolean => Object.keys(query.value).length === 0

  function changed(): void {
    if (isUnlimited() && known !== undefined) parts.expect(known)
    batch(() => {
      const read = parts.all().filter(({ isRead }) => isRead)
      rows.value = sorted?.length ?? parts.total()
      found.value = sorted?.length ?? read.reduce((sum, { count }) => sum + count, 0)
      isComplete.value = read.length === parts.all().length
      if (found.value > MAX_SORTED || (isUnlimited() && (known ?? 0) > MAX_SORTED)) {
        isTooLong.value = true
      }
      version.value += 1
    })
  }

  /** The plant with an id as a page, which is empty if there is none. */
  async function readOne(id: bigint): Promise<Result<PlantPage>> {
    const found = await session.persist((client) => client.readPlant(id))
    if (found.ok) return { ok: true, value: { plants: [found.value], next: null } }
    return found.error === 40402 ? { ok: true, value: { plants: [], next: null } } : found
  }

  /** A page from a cursor on, in the order of the list or against it. */
  async function list(after: Cursor, limit: number, isBack = false): Promise<Result<PlantPage>> {
    const { id, ...limits } = query.value
    if (id !== undefined) return readOne(id)
    const isFalling = parts.isDescending() !== isBack
    return session.persist((client) =>
      client.listPlants({
        limit,
        ...(after === null ? {} : { after }),
        ...(isFalling ? { order: 'desc' } : {}),
        ...limits,
      }),
    )
  }

  /** Says why rows are missing, and retries after a while. */
  function fail(message: string): void {
    failure.value = message
    const began = generation
    setTimeout(() => {
      version.value += 1
      if (began === generation) void arrange()
    }, RETRY_MS)
  }

  /** Reads a part once at a time, and puts what was read of it in its place. */
  function load(
    part: Part,
    read: () => Promise<Result<PlantPage>>,
    split: (page: PlantPage) => readonly Part[],
  ): Promise<void> {
    const began = generation
    const whole = async (): Promise<void> => {
      const page = await read()
      if (began !== generation) return
      loading.delete(part)
      if (!page.ok) return fail(page.message)
      failure.value = null
      parts.replace(part, split(page.value))
      for (const [id, plant] of recent) place(id, plant)
      if (!sorted) parts.forgetOldest()
      settle()
      changed()
    }
    const isLoading = loading.get(part) ?? whole()
    loading.set(part, isLoading)
    return isLoading
  }

  /** Forgets what changed meanwhile, once nothing is read that may lack it. */
  function settle(): void {
    if (loading.size === 0 && readers === 0) recent.clear()
  }

  const limitOf = ({ count }: Part): number => Math.min(Math.max(count, PART_ROWS), LONG_PART_ROWS)

  /** Reads a part from its beginning. */
  const readForward = (part: Part, limit = limitOf(part)): Promise<void> =>
    load(
      part,
      () => list(part.forward ?? part.after, limit),
      (page) => pages.forward(part, part.after, page),
    )

  /** Reads a part from its end. */
  const readBack = (part: Part): Promise<void> =>
    load(
      part,
      () => {
        const behind = part.last === parts.end() ? null : part.last + parts.step()
        return list(part.backward ?? behind, PART_ROWS, true)
      },
      (page) => pages.back(part, page),
    )

  /** Reads about what a row in the middle of a part would be. */
  const seek = (part: Part, after: bigint, row: number): Promise<void> => {
    const before = row - parts.startOf(part)
    const from = pages.guess(part, after, before)
    return load(
      part,
      () => list(from, PART_ROWS),
      (page) => pages.middle(part, from, before, page),
    )
  }

  /** Does what needs all plants; what changes meanwhile is kept for it. */
  async function withAll<T>(act: () => Promise<T>): Promise<T> {
    const began = generation
    readers += 1
    isReadingAll.value = true
    try {
      return await act()
    } finally {
      if (began === generation) {
        readers -= 1
        isReadingAll.value = readers > 0
        settle()
      }
    }
  }

  /** Reads what is left of all plants, if these are not too many. */
  async function readAll(): Promise<Outcome> {
    const began = generation
    for (;;) {
      const part = parts.all().find((it) => it.rows === null || it.isStale)
      if (!part) return 'all'
      if (isTooLong.value || (found.value >= MAX_SORTED && !part.isRead)) {
        isTooLong.value = true
        return 'too many'
      }
      await readForward(part, LONG_PART_ROWS)
      if (began !== generation || failure.value) return 'failed'
    }
  }

  /** Reads the plants that are not looked for, for their tags alone. */
  async function readOthers(): Promise<void> {
    const began = generation
    const plants: NewPlant[] = []
    for (let after: string | undefined, isWhole = false; !isWhole; ) {
      const query = { limit: LONG_PART_ROWS, ...(after === undefined ? {} : { after }) }
      const page = await session.persist((client) => client.listPlants(query))
      if (!page.ok || began !== generation) return
      plants.push(...page.value.plants)
      after = page.value.next ?? undefined
      isWhole = after === undefined || plants.length >= MAX_SORTED
      tagsBefore.value = countTags(plants, after !== undefined)
    }
  }

  /** Sorts the plants; false if they are too many, which then stay in the order of ids. */
  async function sortAll(): Promise<boolean> {
    const began = generation
    const outcome = await readAll()
    // It is tried again after a while, or something else is shown now.
    if (outcome === 'failed' || began !== generation) return true
    if (outcome === 'too many') return false
    const next = comparatorOf(sort.value)
    const all = await sortInSlices([...parts.loaded()], next)
    if (began !== generation) return true
    compare = next
    sorted = all
    for (const [id, plant] of recent) place(id, plant)
    changed()
    return true
  }

  /** Puts the plants into the order that is asked for, if they are not too many. */
  async function arrange(): Promise<void> {
    const { by } = sort.value
    if (by === 'id' || (await withAll(sortAll))) return
    say(tooLong(by))
    await open({ query: query.value, sort: BY_ID }, true)
  }

  /** Begins anew: answers to earlier requests no longer count. */
  function restart(): void {
    generation += 1
    loading.clear()
    recent.clear()
    readers = 0
    isReadingAll.value = false
  }

  /** Shows other plants or another order; `isCorrected`: as the address says, or as what it says cannot be. */
  async function open(view: View, isCorrected = false): Promise<void> {
    const before = { query: query.value, sort: sort.value }
    if (rows.value > 0 && isSameView(view, before)) return refresh()
    const isDescending = view.sort.by === 'id' && view.sort.isDescending
    const isOther = textOf(view.query) !== textOf(before.query)
    onView(view, isCorrected)
    if (isUnlimited()) tagsBefore.value = tagsHeld()
    restart()
    sorted = null
    batch(() => {
      failure.value = null
      query.value = view.query
      sort.value = view.sort
      if (isOther) isTooLong.value = false
      if (isOther || parts.isDescending() !== isDescending || rows.value === 0) {
        parts.reset(isDescending)
        readAt.value = performance.now()
      }
      changed()
    })
    const [first] = parts.all()
    if (first && !first.isRead) await readForward(first)
    await arrange()
  }

  /** Reads the rows again as they come into view; until then, they stay as they are. */
  function refresh(): void {
    restart()
    readAt.value = performance.now()
    for (const part of parts.all()) part.isStale = true
    changed()
    void arrange()
  }

  /** Puts a plant into its place, or takes it out. */
  function place(id: bigint, plant: NewPlant | null): void {
    const part = parts.partOf(id)
    if (part?.rows) {
      const at = parts.placeIn(part.rows, id)
      const isThere = part.rows[at]?.id === id
      // A list that others add to is not held in one part for ever.
      if (plant && at === part.rows.length && at >= MAX_PART_ROWS) {
        const end = part.rows.at(-1)?.id ?? id
        parts.replace(part, [{ ...part, last: end }, pages.read(end, part.last, [plant])])
      } else {
        part.rows.splice(at, isThere ? 1 : 0, ...(plant ? [plant] : []))
        part.count = part.rows.length
      }
    }
    parts.index()
    if (!sorted) return
    const before = sorted.findIndex((row) => row.id === id)
    if (before >= 0) sorted.splice(before, 1)
    if (plant) sorted.splice(placeAmong(sorted, plant, compare), 0, plant)
  }

  function update(id: bigint, plant: NewPlant | null): void {
    if (loading.size > 0 || readers > 0) recent.set(id, plant)
    place(id, plant)
    changed()
  }

  const row = (at: number): NewPlant | undefined => (sorted ? sorted[at] : parts.row(at))

  const rowOf = (id: bigint): number => {
    if (sorted) return sorted.findIndex((it) => it.id === id)
    const at = parts.rowOf(id)
    return parts.row(at)?.id === id ? at : -1
  }

  const tooLong = (by: SortKey): string =>
    `Sorting by ${by} works up to ${MAX_SORTED.toLocaleString()} plants. Search for something first`

  return {
    query,
    sort,
    version,
    rows,
    found,
    isComplete,
    isTooLong,
    isReadingAll,
    failure,
    readAt,
    isLive,
    row,
    rowOf,
    tooLong,

    /** Reads what is left of all plants, if these are not too many. */
    readAll: (): Promise<Outcome> => withAll(readAll),

    /** Shows other plants, in the same order, and puts them into the address. */
    show: (wanted: Query): Promise<void> => open({ query: wanted, sort: sort.value }),

    /** Sorts by a column, or the other way if it is sorted by it. */
    async sortBy(by: SortKey): Promise<void> {
      if (by !== 'id' && isTooLong.value) return say(tooLong(by))
      await open({ query: query.value, sort: pressed(sort.value, by) })
    },

    /** No longer looks for one of the things. */
    drop(key: keyof Query): Promise<void> {
      const { [key]: _, ...others } = query.value
      return this.show(others)
    },

    open,

    view: (): View => ({ query: query.value, sort: sort.value }),

    /** Says how many plants are stored, so that the scroll bar stands for all of them. */
    expect(plants: number | undefined): void {
      known = plants
      if (isUnlimited() && !isComplete.value && rows.value !== plants) changed()
    },

    refresh,

    /** Forgets everything. */
    close(): void {
      restart()
      tagsBefore.value = null
      hidden.clear()
      sorted = null
      known = undefined
      parts.reset(false)
      batch(() => {
        query.value = {}
        sort.value = BY_ID
        isTooLong.value = false
        changed()
        rows.value = 0
      })
    },

    /** The tags of the plants that are held, and how many of these have each. */
    tags: (): ReadonlyMap<string, number> => tagsHeld().counts,

    /** The tags of all plants, as far as they were read; not only of those that are looked for. */
    allTags: (): CountedTags => (isUnlimited() ? tagsHeld() : (tagsBefore.value ?? tagsHeld())),

    /** Reads all plants to count their tags, if they are not too many. */
    async readTags(): Promise<void> {
      if ((known ?? 0) > MAX_SORTED) return
      if (isUnlimited()) await withAll(readAll)
      else if (tagsBefore.value?.isPart !== false) await withAll(readOthers)
    },

    /** The plants that are held, in the order of the table. */
    held: (): readonly NewPlant[] => sorted ?? [...parts.loaded()],

    /** A plant that is held. */
    plant(id: bigint): NewPlant | undefined {
      const found = parts.row(parts.rowOf(id))
      return found?.id === id ? found : undefined
    },

    /** The plants before and after a plant, which need not be in the list; undefined where none is held. */
    around(id: bigint): readonly [before: NewPlant | undefined, after: NewPlant | undefined] {
      const at = rowOf(id)
      if (at >= 0) return [row(at - 1), row(at + 1)]
      if (sorted) return [undefined, undefined]
      const next = parts.rowOf(id)
      return [row(next - 1), row(next)]
    },

    /** Reads the rows from `first` up to `end`, and those near them. */
    want(first: number, end: number, isGoingToEnd: boolean): void {
      if (sorted) return
      const middle = (first + end) / 2
      for (const part of [...parts.between(first - MARGIN_ROWS, end + MARGIN_ROWS)]) {
        parts.use(part)
        if (part.rows && !part.isStale) continue
        const start = parts.startOf(part)
        const stop = start + part.count
        const isLast = part.last === parts.end()
        const isShort = part.rows !== null || part.count <= LONG_PART_ROWS
        if ((isGoingToEnd && isLast && !part.rows) || (middle >= stop && !part.isRead)) {
          void readBack(part)
        } else if (part.after === null || isShort || first <= start + MARGIN_ROWS)
          void readForward(part)
        else if (end >= stop - MARGIN_ROWS || isLast) void readBack(part)
        else void seek(part, part.after, first)
      }
    },

    /** Adds a new plant in its place, or updates a changed one. */
    put(plant: NewPlant): void {
      hidden.delete(plant.id)
      update(plant.id, matches(query.value, plant) ? plant : null)
    },

    /** Hides a plant until it is put again, even if it is still stored. */
    hide(id: bigint): void {
      hidden.add(id)
      update(id, null)
    },

    /** Shows what someone else made of a plant, which may be gone; not of one that is about to be deleted here. */
    change(id: bigint, plant: Plant | null): void {
      if (hidden.has(id)) return
      update(id, plant && matches(query.value, { id, ...plant }) ? { id, ...plant } : null)
    },

    /** Stops hiding an id. */
    forget: (id: bigint): void => {
      hidden.delete(id)
    },
  }
}
