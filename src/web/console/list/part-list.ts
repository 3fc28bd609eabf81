// A long list in parts, in the order of ids, either way. Together they span all ids; only some hold their plants.

import type { NewPlant } from '../../../client/client.ts'
import { MAX_SORTED } from '../sort.ts'
import { ASCENDING, type IdOrder } from './id-order.ts'
import type { Part } from './part.ts'

/** The index of the first element that meets a condition, as do all after it; the length if none does. */
function firstOf<T>(sorted: readonly T[], meets: (element: T) => boolean): number {
  let low = 0
  let high = sorted.length
  while (low < high) {
    const middle = (low + high) >> 1
    const element = sorted[middle]
    if (element !== undefined && !meets(element)) low = middle + 1
    else high = middle
  }
  return low
}

export class PartList {
  #order = ASCENDING
  #parts: Part[] = []
  /** The index of the first row of each part. */
  #starts: number[] = []
  #total = 0
  readonly #usedAt = new WeakMap<Part, number>()
  #clock = 0

  constructor() {
    this.reset(ASCENDING)
  }

  get order(): IdOrder {
    return this.#order
  }

  get all(): readonly Part[] {
    return this.#parts
  }

  get total(): number {
    return this.#total
  }

  /** Starts over with one unread part. */
  reset(order: IdOrder): void {
    this.#order = order
    this.#parts = [{ after: null, last: order.end, count: 1, rows: null, isRead: false }]
    this.index()
  }

  /** Recounts the rows after a part has become longer or shorter. */
  index(): void {
    this.#total = 0
    this.#starts = this.#parts.map(({ count }) => {
      this.#total += count
      return this.#total - count
    })
  }

  use(part: Part): void {
    this.#usedAt.set(part, ++this.#clock)
  }

  /** Replaces a part by others; those without an id between their bounds are left out. */
  replace(part: Part, others: readonly Part[]): void {
    const place = this.#parts.indexOf(part)
    if (place < 0) return
    const whole = others.filter(
      ({ after, last }) => after === null || this.#order.isBefore(after, last),
    )
    this.#parts.splice(place, 1, ...whole)
    for (const other of whole) if (other.rows) this.use(other)
    this.index()
  }

  /** Drops the plants of the least recently used parts. */
  forgetOldest(): void {
    const heldParts = this.#parts.filter(({ rows }) => rows !== null)
    let rows = heldParts.reduce((sum, { count }) => sum + count, 0)
    if (rows <= MAX_SORTED) return
    const age = (part: Part) => this.#usedAt.get(part) ?? 0
    for (const part of heldParts.toSorted((a, b) => age(a) - age(b))) {
      if (rows <= MAX_SORTED) return
      rows -= part.count
      part.rows = null
    }
  }

  /** Resizes the longest unread part so that the rows add up to a total. */
  expect(rows: number): void {
    const unread = this.#parts.filter(({ isRead }) => !isRead)
    const longest = unread.toSorted((a, b) => b.count - a.count)[0]
    if (!longest || rows === this.#total) return
    longest.count = Math.max(1, longest.count + rows - this.#total)
    this.index()
  }

  /** Puts plants in their places in the parts that are held, or removes them. */
  placeAll(changes: ReadonlyMap<bigint, NewPlant | null>): void {
    const byPart = Map.groupBy(changes, ([id]) => this.partOf(id))
    for (const [part, changed] of byPart) {
      if (!part?.rows) continue
      const unchangedRows = part.rows.filter(({ id }) => !changes.has(id))
      const changedPlants = changed.map(([, plant]) => plant).filter((plant) => plant !== null)
      part.rows = [...unchangedRows, ...changedPlants].sort((a, b) =>
        this.#order.isBefore(a.id, b.id) ? -1 : 1,
      )
      part.count = part.rows.length
    }
    this.index()
  }

  startOf(part: Part): number {
    return this.#starts[this.#parts.indexOf(part)] ?? 0
  }

  partOf(id: bigint): Part | undefined {
    return this.#parts[this.#placeOfId(id)]
  }

  /** The index of a plant among rows, or of the first one after its id. */
  placeIn(rows: readonly NewPlant[], id: bigint): number {
    return firstOf(rows, (row) => !this.#order.isBefore(row.id, id))
  }

  /** The row of a plant, or of the first one after its id. */
  rowOf(id: bigint): number {
    const place = this.#placeOfId(id)
    const { rows } = this.#parts[place] ?? {}
    return (this.#starts[place] ?? this.#total) + (rows ? this.placeIn(rows, id) : 0)
  }

  /** A row by its index; undefined if it is not held. */
  row(at: number): NewPlant | undefined {
    const place = this.#placeOfRow(at)
    return this.#parts[place]?.rows?.[at - (this.#starts[place] ?? 0)]
  }

  /** The parts with the rows from `first` up to `end`. */
  *between(first: number, end: number): Generator<Part> {
    for (let place = this.#placeOfRow(Math.max(0, first)); place < this.#parts.length; place++) {
      const part = this.#parts[place]
      if (!part || (this.#starts[place] ?? 0) >= end) return
      yield part
    }
  }

  /** True if every plant of the list is held. */
  get isHeld(): boolean {
    return this.#parts.every(({ rows, isRead }) => rows !== null && isRead)
  }

  /** Every plant that is held. */
  *heldPlants(): Generator<NewPlant> {
    for (const { rows } of this.#parts) yield* rows ?? []
  }

  #placeOfRow(row: number): number {
    let low = 0
    let high = this.#parts.length - 1
    while (low < high) {
      const middle = (low + high + 1) >> 1
      if ((this.#starts[middle] ?? 0) <= row) low = middle
      else high = middle - 1
    }
    return low
  }

  #placeOfId(id: bigint): number {
    return firstOf(this.#parts, ({ last }) => !this.#order.isBefore(last, id))
  }
}
