// A long list in parts, in the order of ids, either way. Together they span all ids; only some hold their plants.

import type { NewPlant } from '../../client/client.ts'

const ROWS_KEPT = 20_000

const MIN = -(2n ** 63n)
const MAX = 2n ** 63n - 1n

/** Where reading goes on: an id, or the `next` of a page; null: at the bound. */
export type Cursor = bigint | string | null

/** The plants after `after`, up to and including `last`; in a descending list, ids fall. */
export type Part = {
  /** null: from the beginning. */
  readonly after: bigint | null
  readonly last: bigint
  /** How many plants it has: an estimate if it was never read. */
  count: number
  /** null if they are not held. */
  rows: NewPlant[] | null
  /** True if it was read, so that the count is exact but for what others do. */
  readonly isRead: boolean
  /** True if the plants may have changed. */
  isStale?: boolean
  /** Where the page after the last one that was read begins; and the page before. */
  readonly forward?: Cursor
  readonly backward?: Cursor
}

export type PartList = ReturnType<typeof createPartList>

export function createPartList() {
  let parts: Part[] = []
  /** The index of the first row of each part. */
  let starts: number[] = []
  let total = 0
  let isDescending = false
  const usedAt = new WeakMap<Part, number>()
  let clock = 0

  const step = (): bigint => (isDescending ? -1n : 1n)
  const end = (): bigint => (isDescending ? MIN : MAX)
  /** True if an id comes before another one. */
  const isBefore = (a: bigint, b: bigint): boolean => (isDescending ? a > b : a < b)

  function use(part: Part): void {
    usedAt.set(part, ++clock)
  }

  /** Recounts the rows after a part has become longer or shorter. */
  function index(): void {
    total = 0
    starts = parts.map(({ count }) => {
      total += count
      return total - count
    })
  }

  /** Drops the plants of the least recently used parts. */
  function forgetOldest(): void {
    const kept = parts.filter(({ rows }) => rows !== null)
    let rows = kept.reduce((sum, { count }) => sum + count, 0)
    if (rows <= ROWS_KEPT) return
    const age = (part: Part) => usedAt.get(part) ?? 0
    for (const part of kept.toSorted((a, b) => age(a) - age(b))) {
      if (rows <= ROWS_KEPT) return
      rows -= part.count
      part.rows = null
    }
  }

  /** The place of the part that contains a row. */
  function placeOf(row: number): number {
    let low = 0
    let high = parts.length - 1
    while (low < high) {
      const middle = (low + high + 1) >> 1
      if ((starts[middle] ?? 0) <= row) low = middle
      else high = middle - 1
    }
    return low
  }

  /** The place of the part where an id is, or would be. */
  const placeOfId = (id: bigint): number => parts.findIndex(({ last }) => !isBefore(last, id))

  const placeIn = (rows: readonly NewPlant[], id: bigint): number => {
    const at = rows.findIndex((row) => !isBefore(row.id, id))
    return at < 0 ? rows.length : at
  }

  return {
    use,
    index,
    forgetOldest,
    end,
    step,
    isBefore,
    isDescending: () => isDescending,
    total: () => total,
    all: (): readonly Part[] => parts,

    /** Begins a list of which nothing was read. */
    reset(isNowDescending: boolean): void {
      isDescending = isNowDescending
      parts = [{ after: null, last: end(), count: 1, rows: null, isRead: false }]
      index()
    },

    /** Puts others in the place of a part; those without an id between their bounds are left out. */
    replace(part: Part, others: readonly Part[]): void {
      const place = parts.indexOf(part)
      if (place < 0) return
      const whole = others.filter(({ after, last }) => after === null || isBefore(after, last))
      parts.splice(place, 1, ...whole)
      for (const it of whole) if (it.rows) use(it)
      index()
    },

    /** Makes the longest part that was never read as long as is needed for so many rows in all. */
    expect(rows: number): boolean {
      const unread = parts.filter(({ isRead }) => !isRead)
      const longest = unread.toSorted((a, b) => b.count - a.count)[0]
      if (!longest || rows === total) return false
      const before = longest.count
      longest.count = Math.max(1, before + rows - total)
      index()
      return longest.count !== before
    },

    startOf: (part: Part): number => starts[parts.indexOf(part)] ?? 0,

    partOf: (id: bigint): Part | undefined => parts[placeOfId(id)],

    placeIn,

    /** The row of a plant, or where it would be. */
    rowOf(id: bigint): number {
      const place = placeOfId(id)
      const { rows } = parts[place] ?? {}
      return (starts[place] ?? total) + (rows ? placeIn(rows, id) : 0)
    },

    /** The parts with the rows from `first` up to `end`. */
    *between(first: number, end: number): Generator<Part> {
      for (let place = placeOf(Math.max(0, first)); place < parts.length; place++) {
        const part = parts[place]
        if (!part || (starts[place] ?? 0) >= end) return
        yield part
      }
    },

    /** Every plant that is held. */
    *loaded(): Generator<NewPlant> {
      for (const { rows } of parts) yield* rows ?? []
    },

    /** A row by its index; undefined if it is not held. */
    row(at: number): NewPlant | undefined {
      const place = placeOf(at)
      return parts[place]?.rows?.[at - (starts[place] ?? 0)]
    },
  }
}
