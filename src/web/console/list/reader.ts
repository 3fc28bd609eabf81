// Reads the plants of the list from the first on: more as the end of what was read comes into view, or all of them.

import { type ReadonlySignal, signal } from '@preact/signals'
import type { Query } from '../query.ts'
import type { Session } from '../session.ts'
import { MAX_SORTED } from '../sort.ts'
import { type Cursor, PAGE_PLANTS, readPage } from './plant-pages.ts'
import type { PlantRows } from './plant-rows.ts'

const FIRST_PLANTS = 250
// Rows below the view that are read ahead.
const MARGIN_ROWS = 125
// While all plants are read, the table is drawn this often.
const PUBLISH_MS = 300

export type ReadOutcome = 'all' | 'too many' | 'failed'

export class Reader {
  /** The reason of the last failure; null once a read succeeds. */
  readonly failure = signal<string | null>(null)
  /** True while all plants are read. */
  readonly isReadingAll = signal(false)
  /** Counts restarts: answers to earlier requests are dropped. */
  generation = 0
  /** The start of the next page, or undefined if there is none. */
  #next: Cursor | undefined = undefined
  /** The last id that was read, or null. */
  #last: bigint | null = null
  #loading: Promise<void> | null = null
  #publishedAt = 0

  constructor(
    readonly session: Session,
    readonly rows: PlantRows,
    readonly query: ReadonlySignal<Query>,
  ) {}

  /** Drops the answers to all requests so far. */
  supersede(): void {
    this.generation += 1
    this.#loading = null
    this.isReadingAll.value = false
    this.rows.restart()
  }

  /** Reads from the first plant again; the rows stay until then. */
  rewind(): void {
    this.#next = null
    this.#last = null
  }

  /** Reads nothing more. */
  stop(): void {
    this.supersede()
    this.#next = undefined
  }

  /** True if nothing is left to read. */
  get isDone(): boolean {
    return this.#next === undefined
  }

  async readFirst(): Promise<void> {
    if (this.#next === null) await this.#readNext(FIRST_PLANTS)
  }

  /** Reads on if the rows up to `end` come near the last that was read. */
  readAround(end: number): void {
    const readRows = this.#last === null ? 0 : this.rows.countUpTo(this.#last)
    if (!this.isDone && end + MARGIN_ROWS > readRows) void this.#readNext()
  }

  /** Calls a function that reads all plants, and keeps the changes in the meantime for it. */
  async whileReadingAll<T>(act: () => Promise<T>): Promise<T> {
    const { generation } = this
    this.isReadingAll.value = true
    this.rows.beginRead()
    try {
      return await act()
    } finally {
      if (generation === this.generation) {
        this.isReadingAll.value = false
        this.rows.endRead()
      }
    }
  }

  /** Reads every plant, unless there are more than the page sorts. */
  async readAll(): Promise<ReadOutcome> {
    const { generation } = this
    const { rows } = this
    while (!this.isDone) {
      if (rows.isTooLong.value) return 'too many'
      await this.#readNext()
      if (generation !== this.generation || this.failure.value) return 'failed'
      if (this.isDone || rows.byId().length < MAX_SORTED) continue
      rows.isTooLong.value = true
      rows.publish()
    }
    return 'all'
  }

  /** Reads the next page, unless it is being read. */
  #readNext(limit = PAGE_PLANTS): Promise<void> {
    this.#loading ??= this.#read(limit)
    return this.#loading
  }

  async #read(limit: number): Promise<void> {
    const { generation, rows, session } = this
    rows.beginRead()
    const page = await readPage(
      session,
      this.query.value,
      rows.isDescending,
      this.#next ?? null,
      limit,
    )
    if (generation !== this.generation) return
    this.#loading = null
    if (page.ok) {
      const { plants, next } = page.value
      const last = plants.at(-1)?.id ?? this.#last
      this.failure.value = null
      if (next === null || last !== null) rows.take(this.#last, next === null ? null : last, plants)
      this.#next = next ?? undefined
      this.#last = last
    } else this.failure.value = page.message
    rows.endRead()
    const isSoon = performance.now() - this.#publishedAt < PUBLISH_MS
    if (!page.ok || (isSoon && this.isReadingAll.peek() && !this.isDone)) return
    rows.publish()
    this.#publishedAt = performance.now()
  }
}
