// The plants of a list, in parts: loaded when they come into view, and dropped once many others have been loaded.

import { signal } from '@preact/signals'
import type { NewPlant, Plant, PlantPage, Result } from '../../client/client.ts'
import { createPartList, type Part } from './part-list.ts'
import { matches, type Query } from './query.ts'
import type { Session } from './session.ts'

const PART_ROWS = 250
// Larger parts when jumping to the end of the list, for fewer requests.
const LONG_PART_ROWS = 1000
// What others add to the end of the list is put into its last part up to here, and then into another.
const LONGEST_PART_ROWS = 5000
const RETRY_MS = 2000

export type PlantPages = ReturnType<typeof createPlantPages>

export function createPlantPages(session: Session) {
  const parts = createPartList()
  let query: Query = {}
  /** Where the next part begins. */
  let cursor: bigint | string | null = null
  // Counts restarts of the list, so that answers to earlier requests are dropped.
  let generation = 0
  const loading = new Set<Part | 'next'>()
  const hidden = new Set<bigint>()

  /** Increases with every change of the rows. */
  const version = signal(0)
  const total = signal(0)
  const isComplete = signal(false)
  const failure = signal<string | null>(null)
  /** When the rows were read that were read first, in milliseconds on a monotonic clock. */
  const readAt = signal(0)

  function changed(): void {
    parts.index()
    total.value = parts.total()
    version.value += 1
  }

  /** The part where an id is, or would be. */
  const partOf = (id: bigint): Part | undefined =>
    parts.partOf(id) ?? (isComplete.value ? parts.last() : undefined)

  /** The plant with an id as a page, which is empty if there is none. */
  async function readOne(id: bigint): Promise<Result<PlantPage>> {
    const found = await session.persist((client) => client.readPlant(id))
    if (found.ok) return { ok: true, value: { plants: [found.value], next: null } }
    return found.error === 40402 ? { ok: true, value: { plants: [], next: null } } : found
  }

  const list = async (after: bigint | string | null, limit: number): Promise<Result<PlantPage>> => {
    const { id, ...limits } = query
    if (id !== undefined) return readOne(id)
    return session.persist((client) =>
      client.listPlants({
        limit,
        ...(after === null ? {} : { after }),
        ...limits,
      }),
    )
  }

  /** Says why rows are missing, and retries after a while. */
  function fail(message: string): void {
    failure.value = message
    setTimeout(() => {
      version.value += 1
    }, RETRY_MS)
  }

  /** Loads the part after the last one. */
  async function loadNext(limit: number): Promise<void> {
    if (loading.has('next') || isComplete.value) return
    loading.add('next')
    const began = generation
    const result = await list(cursor, limit)
    if (began !== generation) return
    loading.delete('next')
    if (!result.ok) return fail(result.message)
    failure.value = null
    const rows = result.value.plants.filter(({ id }) => !hidden.has(id))
    const last = result.value.plants.at(-1)
    if (last)
      parts.push({ after: parts.last()?.last ?? null, last: last.id, count: rows.length, rows })
    cursor = result.value.next ?? parts.last()?.last ?? null
    isComplete.value = result.value.next === null
    parts.forgetOldest()
    changed()
  }

  /** Loads a dropped part again; it may have become longer or shorter. */
  async function loadAgain(part: Part): Promise<void> {
    if (loading.has(part)) return
    loading.add(part)
    const began = generation
    const rows: NewPlant[] = []
    for (let after: bigint | string | null = part.after, isWhole = false; !isWhole; ) {
      const result = await list(after, Math.min(Math.max(part.count, 1), LONG_PART_ROWS))
      if (began !== generation) return
      if (!result.ok) {
        loading.delete(part)
        return fail(result.message)
      }
      const { plants, next } = result.value
      rows.push(...plants.filter(({ id }) => id <= part.last && !hidden.has(id)))
      after = next
      isWhole = next === null || (plants.at(-1)?.id ?? part.last) >= part.last
    }
    loading.delete(part)
    failure.value = null
    part.rows = rows
    part.isStale = false
    part.count = rows.length
    parts.use(part)
    parts.forgetOldest()
    changed()
  }

  function changeRows(id: bigint, change: (rows: NewPlant[], at: number) => number): void {
    const part = partOf(id)
    if (!part) return
    const { rows } = part
    if (rows) {
      const at = rows.findIndex((row) => row.id >= id)
      part.count += change(rows, at < 0 ? rows.length : at)
    }
    // Dropped parts too: they are loaded again up to this id.
    if (id > part.last) part.last = id
    changed()
  }

  return {
    version,
    total,
    isComplete,
    failure,
    readAt,

    /** Starts over, with all plants or those that are looked for. */
    async open(wanted: Query = {}): Promise<void> {
      generation += 1
      loading.clear()
      query = wanted
      cursor = null
      readAt.value = performance.now()
      parts.set([])
      isComplete.value = false
      changed()
      await loadNext(PART_ROWS)
    },

    /** Reads the rows again as they come into view; until then, they stay as they are. */
    refresh(): void {
      generation += 1
      loading.clear()
      readAt.value = performance.now()
      for (const part of parts.all()) part.isStale = true
      if (isComplete.value) cursor = parts.last()?.last ?? null
      isComplete.value = false
      changed()
    },

    row: parts.row,

    /** The tags of the plants that are loaded, and how many of these have each. */
    tags(): ReadonlyMap<string, number> {
      const counts = new Map<string, number>()
      for (const { tag } of parts.loaded()) {
        if (tag) counts.set(tag, (counts.get(tag) ?? 0) + 1)
      }
      return counts
    },

    /** The row of a plant that is loaded; -1 if there is none. */
    rowOf(id: bigint): number {
      const at = parts.rowOf(id)
      return parts.row(at)?.id === id ? at : -1
    },

    /** The plants before and after a plant, which need not be in the list; undefined where none is loaded. */
    around(id: bigint): readonly [before: NewPlant | undefined, after: NewPlant | undefined] {
      const at = parts.rowOf(id)
      return [parts.row(at - 1), parts.row(parts.row(at)?.id === id ? at + 1 : at)]
    },

    /** Loads the rows from `first` up to `end`, and the next part if the end is near. */
    want(first: number, end: number, isGoingToEnd: boolean): void {
      for (const part of parts.between(first, end)) {
        parts.use(part)
        if (part.rows === null || part.isStale) void loadAgain(part)
      }
      if (isGoingToEnd) void loadNext(LONG_PART_ROWS)
      else if (end > total.value - PART_ROWS / 2) {
        void loadNext(total.value < LONG_PART_ROWS ? PART_ROWS : LONG_PART_ROWS)
      }
    },

    /** Adds a new plant in its place, or updates a changed one. */
    put(plant: NewPlant): void {
      hidden.delete(plant.id)
      const isShown = matches(query, plant)
      if (!parts.last() && isComplete.value && isShown) {
        parts.set([{ after: null, last: plant.id, count: 1, rows: [plant] }])
        changed()
        return
      }
      const last = parts.last()
      // A list that others add to is not held in one part for ever.
      if (isComplete.value && last && plant.id > last.last && last.count >= LONGEST_PART_ROWS) {
        cursor = last.last
        isComplete.value = false
        changed()
        return
      }
      changeRows(plant.id, (rows, at) => {
        const isThere = rows[at]?.id === plant.id
        rows.splice(at, isThere ? 1 : 0, ...(isShown ? [plant] : []))
        return Number(isShown) - Number(isThere)
      })
    },

    /** Hides a plant until it is put again, even if it is still stored. */
    hide(id: bigint): void {
      hidden.add(id)
      changeRows(id, (rows, at) => {
        if (rows[at]?.id !== id) return 0
        rows.splice(at, 1)
        return -1
      })
    },

    /** Shows what someone else made of a plant, which may be gone; not of one that is about to be deleted here. */
    change(id: bigint, plant: Plant | null): void {
      if (hidden.has(id)) return
      if (plant) {
        this.put({ id, ...plant })
        return
      }
      this.hide(id)
      hidden.delete(id)
    },

    /** Stops hiding an id. */
    forget: (id: bigint): void => {
      hidden.delete(id)
    },
  }
}
