// The plants of a list, in parts: loaded when they come into view, and dropped once many others have been loaded.

import { signal } from '@preact/signals'
import type { NewPlant } from '../../client/client.ts'
import { createPartList, type Part } from './part-list.ts'
import type { Session } from './session.ts'

const PART_ROWS = 250
// Larger parts when jumping to the end of the list, for fewer requests.
const LONG_PART_ROWS = 1000
const RETRY_MS = 2000

export type PlantPages = ReturnType<typeof createPlantPages>

export function createPlantPages(session: Session) {
  const parts = createPartList()
  let tag: string | undefined
  // Counts restarts of the list, so that answers to earlier requests are dropped.
  let generation = 0
  const loading = new Set<Part | 'next'>()
  const hidden = new Set<bigint>()

  /** Increases with every change of the rows. */
  const version = signal(0)
  const total = signal(0)
  const isComplete = signal(false)
  const failure = signal<string | null>(null)

  function changed(): void {
    parts.index()
    total.value = parts.total()
    version.value += 1
  }

  /** The part where an id is, or would be. */
  const partOf = (id: bigint): Part | undefined =>
    parts.partOf(id) ?? (isComplete.value ? parts.last() : undefined)

  const list = (after: bigint | null, limit: number) =>
    session.persist((client) =>
      client.listPlants({
        limit,
        ...(after === null ? {} : { after }),
        ...(tag === undefined ? {} : { tag }),
      }),
    )

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
    const after = parts.last()?.last ?? null
    const result = await list(after, limit)
    if (began !== generation) return
    loading.delete('next')
    if (!result.ok) return fail(result.message)
    failure.value = null
    const rows = result.value.plants.filter(({ id }) => !hidden.has(id))
    const last = result.value.plants.at(-1)
    if (last) parts.push({ after, last: last.id, count: rows.length, rows })
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
    for (let after = part.after, isWhole = false; !isWhole; ) {
      const result = await list(after, Math.min(Math.max(part.count, 1), LONG_PART_ROWS))
      if (began !== generation) return
      if (!result.ok) {
        loading.delete(part)
        return fail(result.message)
      }
      const { plants, next } = result.value
      rows.push(...plants.filter(({ id }) => id <= part.last && !hidden.has(id)))
      after = plants.at(-1)?.id ?? part.last
      isWhole = next === null || after >= part.last
    }
    loading.delete(part)
    failure.value = null
    part.rows = rows
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

    /** Starts over, with all plants or those with a tag. */
    async open(onlyTag?: string): Promise<void> {
      generation += 1
      loading.clear()
      tag = onlyTag
      parts.set([])
      isComplete.value = false
      changed()
      await loadNext(PART_ROWS)
    },

    /** Shows one plant alone. */
    showOnly(plant: NewPlant): void {
      generation += 1
      loading.clear()
      tag = undefined
      parts.set([{ after: plant.id - 1n, last: plant.id, count: 1, rows: [plant] }])
      isComplete.value = true
      changed()
    },

    row: parts.row,

    /** Loads the rows from `first` up to `end`, and the next part if the end is near. */
    want(first: number, end: number, isGoingToEnd: boolean): void {
      for (const part of parts.between(first, end)) {
        parts.use(part)
        if (part.rows === null) void loadAgain(part)
      }
      if (isGoingToEnd) void loadNext(LONG_PART_ROWS)
      else if (end > total.value - PART_ROWS / 2) {
        void loadNext(total.value < LONG_PART_ROWS ? PART_ROWS : LONG_PART_ROWS)
      }
    },

    /** Adds a new plant in its place, or updates a changed one. */
    put(plant: NewPlant): void {
      hidden.delete(plant.id)
      const isShown = tag === undefined || plant.tag === tag
      if (!parts.last() && isComplete.value && isShown) {
        parts.set([{ after: null, last: plant.id, count: 1, rows: [plant] }])
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

    /** Stops hiding an id. */
    forget: (id: bigint): void => {
      hidden.delete(id)
    },
  }
}
