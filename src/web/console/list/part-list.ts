// A long list in parts, in ascending or descending order of ids. Together they span all ids; only some hold their plants.

import type { NewPlant } from '../../../client/client.ts'
import { lowerBound, MAX_SORTED } from '../sort.ts'
import { ASCENDING, type IdOrder } from './id-order.ts'
import type { Part } from './part.ts'
import type { PlantChanges } from './sorted-plants.ts'

// Longer than a page that is read, so that only added plants are cut.
const MAX_PART_ROWS = 5000

/** A part that has grown, in parts of which each can be changed quickly and dropped alone. */
function cut(part: Part): readonly Part[] {
  const { rows } = part
  if (!rows || rows.length <= MAX_PART_ROWS) return [part]
  const [head, rest] = [rows.slice(0, MAX_PART_ROWS), rows.slice(MAX_PART_ROWS)]
  const end = head.at(-1)?.id ?? part.last
  return [
    { ...part, last: end, rows: head, count: head.length },
    ...cut({ ...part, after: end, rows: rest, count: rest.length }),
  ]
}

export class PartList {
  order = ASCENDING
  all: readonly Part[] = []
  /** The number of rows. */
  total = 0
  /** The index of the first row of each part. */
  #starts: readonly number[] = []
  readonly #usedAt = new WeakMap<Part, number>()
  #clock = 0

  constructor() {
    this.reset(ASCENDING)
  }

  /** Starts over with one unread part. */
  reset(order: IdOrder): void {
    this.order = order
    this.all = [{ after: null, last: order.end, count: 1, rows: null, isRead: false }]
    this.reindex()
  }

  /** Recounts the rows after a part has become longer or shorter. */
  reindex(): void {
    this.total = 0
    this.#starts = this.all.map(({ count }) => {
      this.total += count
      return this.total - count
    })
  }

  markUsed(part: Part): void {
    this.#usedAt.set(part, ++this.#clock)
  }

  /** Replaces a part by others, except those whose bounds have no id between them. */
  replace(part: Part, others: readonly Part[]): void {
    const index = this.all.indexOf(part)
    if (index < 0) return
    const whole = others.filter(
      ({ after, last }) => after === null || this.order.isBefore(after, last),
    )
    this.all = this.all.toSpliced(index, 1, ...whole)
    for (const other of whole) if (other.rows) this.markUsed(other)
    this.reindex()
  }

  /** Drops the plants of the least recently used parts. */
  forgetOldest(): void {
    const heldParts = this.all.filter(({ rows }) => rows !== null)
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
  resizeTo(rows: number): void {
    const unread = this.all.filter(({ isRead }) => !isRead)
    const longest = unread.toSorted((a, b) => b.count - a.count)[0]
    if (!longest || rows === this.total) return
    longest.count = Math.max(1, longest.count + rows - this.total)
    this.reindex()
  }

  /** Inserts, updates or removes plants in the parts that are held. */
  applyChanges(changes: PlantChanges): void {
    const byPart = Map.groupBy(changes, ([id]) => this.partOf(id))
    for (const [part, changesOfPart] of byPart) {
      if (!part?.rows) continue
      const unchangedRows = part.rows.filter(({ id }) => !changes.has(id))
      const changedPlants = changesOfPart
        .map(([, plant]) => plant)
        .filter((plant) => plant !== null)
      part.rows = [...unchangedRows, ...changedPlants].sort(this.order.compare)
      part.count = part.rows.length
      if (part.count > MAX_PART_ROWS) this.replace(part, cut(part))
    }
    this.reindex()
  }

  startOf(part: Part): number {
    return this.#starts[this.all.indexOf(part)] ?? 0
  }

  partOf(id: bigint): Part | undefined {
    return this.all[this.#partIndexOfId(id)]
  }

  /** The index of a plant among rows, or of the first plant after its id. */
  indexIn(rows: readonly NewPlant[], id: bigint): number {
    return lowerBound(rows, (row) => !this.order.isBefore(row.id, id))
  }

  /** The row of a plant, or of the first plant after its id. */
  rowOf(id: bigint): number {
    const index = this.#partIndexOfId(id)
    const { rows } = this.all[index] ?? {}
    return (this.#starts[index] ?? this.total) + (rows ? this.indexIn(rows, id) : 0)
  }

  /** A row by its index; undefined if it is not held. */
  row(index: number): NewPlant | undefined {
    const part = this.#partIndexOfRow(index)
    return this.all[part]?.rows?.[index - (this.#starts[part] ?? 0)]
  }

  /** The parts with the rows from `first` up to `end`. */
  *between(first: number, end: number): Generator<Part> {
    for (let index = this.#partIndexOfRow(Math.max(0, first)); index < this.all.length; index++) {
      const part = this.all[index]
      if (!part || (this.#starts[index] ?? 0) >= end) return
      yield part
    }
  }

  /** True if every plant of the list is held. */
  get isHeld(): boolean {
    return this.all.every(({ rows, isRead }) => rows !== null && isRead)
  }

  /** Every plant that is held. */
  *heldPlants(): Generator<NewPlant> {
    for (const { rows } of this.all) yield* rows ?? []
  }

  #partIndexOfRow(row: number): number {
    return Math.max(0, lowerBound(this.#starts, (start) => start > row) - 1)
  }

  #partIndexOfId(id: bigint): number {
    return lowerBound(this.all, ({ last }) => !this.order.isBefore(last, id))
  }
}
