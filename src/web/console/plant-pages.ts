// The plants of a list, in parts that are read as they are looked at and forgotten again when many others were.

import { signal } from '@preact/signals'
import type { NewPlant } from '../../client/client.ts'
import type { Session } from './session.ts'

const PART_ROWS = 250
// A part while one goes to the end of the list: fewer requests.
const LONG_PART_ROWS = 1000
const ROWS_KEPT = 20_000

/** Plants behind `after` up to `last`. */
type Part = {
  readonly after: bigint | null
  last: bigint
  count: number
  rows: NewPlant[] | null
  usedAt: number
}

export type PlantPages = ReturnType<typeof createPlantPages>

export function createPlantPages(session: Session) {
  let parts: Part[] = []
  /** Of each part, the index of its first row. */
  let starts: number[] = []
  let tag: string | undefined
  let clock = 0
  // What was asked for before the list began anew is dropped.
  let generation = 0
  const loading = new Set<Part | 'next'>()
  const hidden = new Set<bigint>()

  /** Changes with each change of the rows. */
  const version = signal(0)
  const total = signal(0)
  const isComplete = signal(false)
  const failure = signal<string | null>(null)

  function index(): void {
    let start = 0
    starts = parts.map(({ count }) => {
      start += count
      return start - count
    })
    total.value = start
    version.value += 1
  }

  /** The place of the part that has a row, by the row's index. */
  function partAt(row: number): number {
    let low = 0
    let high = parts.length - 1
    while (low < high) {
      const middle = (low + high + 1) >> 1
      if ((starts[middle] ?? 0) <= row) low = middle
      else high = middle - 1
    }
    return low
  }

  /** The part that has an id, or would have it. */
  const partOf = (id: bigint): Part | undefined =>
    parts.find(({ last }) => id <= last) ?? (isComplete.value ? parts.at(-1) : undefined)

  const list = (after: bigint | null, limit: number) =>
    session.persist((client) =>
      client.listPlants({
        limit,
        ...(after === null ? {} : { after }),
        ...(tag === undefined ? {} : { tag }),
      }),
    )

  function forgetOldest(): void {
    const kept = parts.filter(({ rows }) => rows !== null)
    let rows = kept.reduce((sum, { count }) => sum + count, 0)
    if (rows <= ROWS_KEPT) return
    for (const part of kept.toSorted((a, b) => a.usedAt - b.usedAt)) {
      if (rows <= ROWS_KEPT) return
      rows -= part.count
      part.rows = null
    }
  }

  /** Loads the part behind the last one. */
  async function loadNext(limit: number): Promise<void> {
    if (loading.has('next') || isComplete.value) return
    loading.add('next')
    const began = generation
    const after = parts.at(-1)?.last ?? null
    const result = await list(after, limit)
    if (began !== generation) return
    loading.delete('next')
    failure.value = result.ok ? null : result.message
    if (!result.ok) return
    const rows = result.value.plants.filter(({ id }) => !hidden.has(id))
    const last = result.value.plants.at(-1)
    if (last) parts.push({ after, last: last.id, count: rows.length, rows, usedAt: ++clock })
    isComplete.value = result.value.next === null
    forgetOldest()
    index()
  }

  /** Reads a part again that was forgotten; it may have become longer or shorter. */
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
        failure.value = result.message
        return
      }
      const { plants, next } = result.value
      rows.push(...plants.filter(({ id }) => id <= part.last && !hidden.has(id)))
      after = plants.at(-1)?.id ?? part.last
      isWhole = next === null || after >= part.last
    }
    loading.delete(part)
    part.rows = rows
    part.count = rows.length
    part.usedAt = ++clock
    forgetOldest()
    index()
  }

  function changeRows(id: bigint, change: (rows: NewPlant[], at: number) => number): void {
    const part = partOf(id)
    if (!part) return
    const { rows } = part
    if (rows) {
      const at = rows.findIndex((row) => row.id >= id)
      part.count += change(rows, at < 0 ? rows.length : at)
      if (id > part.last) part.last = id
    }
    index()
  }

  return {
    version,
    total,
    isComplete,
    failure,

    /** Begins anew, with all plants or those of a tag. */
    async open(onlyTag?: string): Promise<void> {
      generation += 1
      loading.clear()
      tag = onlyTag
      parts = []
      isComplete.value = false
      index()
      await loadNext(PART_ROWS)
    },

    /** Shows one plant alone. */
    showOnly(plant: NewPlant): void {
      generation += 1
      loading.clear()
      tag = undefined
      parts = [{ after: plant.id - 1n, last: plant.id, count: 1, rows: [plant], usedAt: ++clock }]
      isComplete.value = true
      index()
    },

    /** A row by its index; undefined where it is not there yet. */
    row(at: number): NewPlant | undefined {
      const place = partAt(at)
      return parts[place]?.rows?.[at - (starts[place] ?? 0)]
    },

    /** Has the rows from `first` up to `end` loaded, and the next ones where the end is near. */
    want(first: number, end: number, isGoingToEnd: boolean): void {
      for (let place = partAt(first); place < parts.length; place++) {
        const part = parts[place]
        if (!part || (starts[place] ?? 0) >= end) break
        part.usedAt = ++clock
        if (part.rows === null) void loadAgain(part)
      }
      if (isGoingToEnd) void loadNext(LONG_PART_ROWS)
      else if (end > total.value - PART_ROWS / 2) {
        void loadNext(total.value < LONG_PART_ROWS ? PART_ROWS : LONG_PART_ROWS)
      }
    },

    /** The index of a row, where it is loaded; -1 else. */
    find(id: bigint): number {
      const part = partOf(id)
      const at = part?.rows?.findIndex((row) => row.id === id) ?? -1
      return part && at >= 0 ? (starts[parts.indexOf(part)] ?? 0) + at : -1
    },

    /** Shows a plant as it is stored now: a new one in its place, or a changed one. */
    put(plant: NewPlant): void {
      hidden.delete(plant.id)
      const isShown = tag === undefined || plant.tag === tag
      if (parts.length === 0 && isComplete.value && isShown) {
        parts = [{ after: null, last: plant.id, count: 1, rows: [plant], usedAt: ++clock }]
        index()
        return
      }
      changeRows(plant.id, (rows, at) => {
        const isThere = rows[at]?.id === plant.id
        rows.splice(at, isThere ? 1 : 0, ...(isShown ? [plant] : []))
        return Number(isShown) - Number(isThere)
      })
    },

    /** Shows a plant no longer, though it may be stored still, until it is put again. */
    hide(id: bigint): void {
      hidden.add(id)
      changeRows(id, (rows, at) => {
        if (rows[at]?.id !== id) return 0
        rows.splice(at, 1)
        return -1
      })
    },

    /** An id that was hidden is shown again where it is stored. */
    forget: (id: bigint): void => {
      hidden.delete(id)
    },
  }
}
