// A long list in parts. Every part keeps its place, but only some keep their plants.

import type { NewPlant } from '../../client/client.ts'

const ROWS_KEPT = 20_000

/** The plants after `after`, up to and including `last`. */
export type Part = {
  readonly after: bigint | null
  last: bigint
  count: number
  /** null if dropped. */
  rows: NewPlant[] | null
  /** Whether the plants may have changed. */
  isStale?: boolean
}

export type PartList = ReturnType<typeof createPartList>

export function createPartList() {
  let parts: Part[] = []
  /** The index of the first row of each part. */
  let starts: number[] = []
  let total = 0
  const usedAt = new Map<Part, number>()
  let clock = 0

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

  return {
    use,
    index,
    forgetOldest,
    total: () => total,
    last: () => parts.at(-1),
    all: (): readonly Part[] => parts,

    /** Replaces all parts. */
    set(all: readonly Part[]): void {
      parts = [...all]
      usedAt.clear()
      index()
    },

    push(part: Part): void {
      parts.push(part)
      use(part)
    },

    /** The part where an id is, or would be; undefined after the last part. */
    partOf: (id: bigint): Part | undefined => parts.find(({ last }) => id <= last),

    /** The row of a plant, or where it would be. */
    rowOf(id: bigint): number {
      const place = parts.findIndex(({ last }) => id <= last)
      if (place < 0) return total
      const { rows, count = 0 } = parts[place] ?? {}
      const at = rows?.findIndex((row) => row.id >= id) ?? 0
      return (starts[place] ?? 0) + (at < 0 ? count : at)
    },

    /** The parts with the rows from `first` up to `end`. */
    *between(first: number, end: number): Generator<Part> {
      for (let place = placeOf(first); place < parts.length; place++) {
        const part = parts[place]
        if (!part || (starts[place] ?? 0) >= end) return
        yield part
      }
    },

    /** Every plant that is loaded. */
    *loaded(): Generator<NewPlant> {
      for (const { rows } of parts) yield* rows ?? []
    },

    /** A row by its index; undefined if it is not loaded. */
    row(at: number): NewPlant | undefined {
      const place = placeOf(at)
      return parts[place]?.rows?.[at - (starts[place] ?? 0)]
    },
  }
}
