// Reads the parts of the list that come into view, or all of them, such as for sorting.

import { computed, type ReadonlySignal, signal } from '@preact/signals'
import type { PlantPage, Result } from '../../../client/client.ts'
import type { Query } from '../query.ts'
import type { Session } from '../session.ts'
import { MAX_SORTED } from '../sort.ts'
import {
  type Cursor,
  guessId,
  type Part,
  rowsBefore,
  splitBack,
  splitForward,
  splitMiddle,
} from './part.ts'
import { readPage } from './plant-pages.ts'
import type { PlantRows } from './plant-rows.ts'

const PART_ROWS = 250
// For longer lists: fewer requests.
const LONG_PART_ROWS = 1000
// Rows that are read ahead, on both sides of the view.
const MARGIN_ROWS = 125
export const RETRY_MS = 2000

export type ReadOutcome = 'all' | 'too many' | 'failed'

const limitOf = ({ count }: Part): number => Math.min(Math.max(count, PART_ROWS), LONG_PART_ROWS)

export class PartReader {
  /** The reason of the last failure; null once a read succeeds. */
  readonly failure = signal<string | null>(null)
  /** True while all plants are read. */
  readonly isReadingAll = computed(() => this.#readersOfAll.value > 0)
  /** Counts restarts: answers to earlier requests are dropped. */
  generation = 0
  readonly #loading = new Map<Part, Promise<void>>()
  readonly #readersOfAll = signal(0)

  constructor(
    readonly session: Session,
    readonly rows: PlantRows,
    readonly query: ReadonlySignal<Query>,
  ) {}

  /** Drops the answers to all requests so far. */
  restart(): void {
    this.generation += 1
    this.#loading.clear()
    this.#readersOfAll.value = 0
    this.rows.restart()
  }

  /** Reads the first rows, unless they are held. */
  async readFirst(): Promise<void> {
    const [first] = this.rows.parts.all
    if (first && !first.isRead) await this.#readForward(first)
  }

  /** Reads the rows from `first` up to `end`, and some around them. */
  readAround(first: number, end: number, isGoingToEnd: boolean): void {
    const { parts } = this.rows
    if (this.rows.isSorted || this.rows.isFiltered) return
    const middle = (first + end) / 2
    for (const part of [...parts.between(first - MARGIN_ROWS, end + MARGIN_ROWS)]) {
      parts.markUsed(part)
      if (part.rows && !part.isStale) continue
      const start = parts.startOf(part)
      const stop = start + part.count
      const isLast = part.last === parts.order.end
      const isShort = part.rows !== null || part.count <= LONG_PART_ROWS
      if ((isGoingToEnd && isLast && !part.rows) || (middle >= stop && !part.isRead)) {
        void this.#readBack(part)
      } else if (part.after === null || isShort || first <= start + MARGIN_ROWS) {
        void this.#readForward(part)
      } else if (end >= stop - MARGIN_ROWS || isLast) void this.#readBack(part)
      else void this.#readMiddle(part, part.after, first)
    }
  }

  /** Reads the rows from a plant on, unless it is held; resolves to its row, or to -1 if it is not found. */
  async readAt(id: bigint): Promise<number> {
    const row = this.rows.rowOf(id)
    const { order } = this.rows.parts
    const part = this.rows.parts.partOf(id)
    if (row >= 0 || !part || part.rows) return row
    const from = id - order.step
    const isFirst = order.isBefore(from, -order.end - 1n)
    const before = rowsBefore(part, id)
    if (isFirst) await this.#readForward(part)
    else {
      await this.#load(
        part,
        () => this.#page(from, PART_ROWS),
        (page) => splitMiddle(order, part, from, before, page),
      )
    }
    return this.rows.rowOf(id)
  }

  /** Calls a function that reads all plants, and keeps the changes in the meantime for it. */
  async whileReadingAll<T>(act: () => Promise<T>): Promise<T> {
    const { generation } = this
    this.#readersOfAll.value += 1
    this.rows.beginRead()
    try {
      return await act()
    } finally {
      if (generation === this.generation) {
        this.#readersOfAll.value -= 1
        this.rows.endRead()
      }
    }
  }

  /** Reads every part that is not held, unless there are more plants than the page sorts. */
  async readAll(): Promise<ReadOutcome> {
    const { generation } = this
    const { parts, isTooLong, readCount } = this.rows
    for (;;) {
      const part = parts.all.find((one) => one.rows === null || one.isStale)
      if (!part) return 'all'
      if (isTooLong.value || (readCount.value >= MAX_SORTED && !part.isRead)) {
        isTooLong.value = true
        return 'too many'
      }
      await this.#readForward(part, LONG_PART_ROWS)
      if (generation !== this.generation || this.failure.value) return 'failed'
    }
  }

  #readForward(part: Part, limit = limitOf(part)): Promise<void> {
    const { order } = this.rows.parts
    return this.#load(
      part,
      () => this.#page(part.forward ?? part.after, limit),
      (page) => splitForward(order, part, part.after, page),
    )
  }

  #readBack(part: Part): Promise<void> {
    const { order } = this.rows.parts
    const afterLast = part.last === order.end ? null : part.last + order.step
    return this.#load(
      part,
      () => this.#page(part.backward ?? afterLast, PART_ROWS, !order.isDescending),
      (page) => splitBack(order, part, page),
    )
  }

  /** Reads near a row in the middle of a part. */
  #readMiddle(part: Part, after: bigint, row: number): Promise<void> {
    const { order } = this.rows.parts
    const before = row - this.rows.parts.startOf(part)
    const from = guessId(part, after, before)
    return this.#load(
      part,
      () => this.#page(from, PART_ROWS),
      (page) => splitMiddle(order, part, from, before, page),
    )
  }

  #page(after: Cursor, limit: number, isDescending = this.rows.parts.order.isDescending) {
    return readPage(this.session, this.query.value, { isDescending }, after, limit)
  }

  /** Reads a part, unless it is being read, and replaces it by the parts that the page splits it into. */
  #load(
    part: Part,
    read: () => Promise<Result<PlantPage>>,
    split: (page: PlantPage) => readonly Part[],
  ): Promise<void> {
    const earlierLoad = this.#loading.get(part)
    if (earlierLoad) return earlierLoad
    const { generation } = this
    const readAndSplit = async (): Promise<void> => {
      const page = await read()
      if (generation !== this.generation) return
      this.#loading.delete(part)
      if (page.ok) {
        this.failure.value = null
        this.rows.replace(part, split(page.value))
      } else this.#fail(page.message)
      this.rows.endRead()
      if (page.ok) this.rows.publish()
    }
    this.rows.beginRead()
    const loading = readAndSplit()
    this.#loading.set(part, loading)
    return loading
  }

  /** Reports the failure, and retries after a while. */
  #fail(message: string): void {
    this.failure.value = message
    setTimeout(() => {
      this.rows.version.value += 1
    }, RETRY_MS)
  }
}
