// The number of plants with each tag, among the plants that were read.

import { signal } from '@preact/signals'
import type { NewPlant } from '../../../client/client.ts'
import { isEverything } from '../query.ts'
import { MAX_SORTED } from '../sort.ts'
import type { PartReader } from './part-reader.ts'
import { readPages } from './plant-pages.ts'

type CountedTags = {
  readonly counts: ReadonlyMap<string, number>
  /** The number of plants without one. */
  readonly untagged: number
  /** The number of plants that were counted. */
  readonly plants: number
  /** True if there are more plants. */
  readonly isPart: boolean
}

/** Counts the tags of plants; an empty one is none. */
function countTags(plants: Iterable<NewPlant>, isPart: boolean): CountedTags {
  const counts = new Map<string, number>()
  let all = 0
  let untagged = 0
  for (const { tag } of plants) {
    all += 1
    if (tag) counts.set(tag, (counts.get(tag) ?? 0) + 1)
    else untagged += 1
  }
  return { counts, untagged, plants: all, isPart }
}

/** True if so many plants are counted again: twice as many, so that counting takes no longer than reading. */
const isDue = (plants: number, counted: number): boolean =>
  plants >= 2 * counted || plants < counted

export class TagCounter {
  /** The tags of all plants, from before a search. */
  readonly #beforeSearch = signal<CountedTags | null>(null)
  #held = countTags([], true)

  constructor(readonly reader: PartReader) {}

  /** The tags of the plants that are held; while all are read, those of the last count. */
  held(): CountedTags {
    const { isReadingAll, rows } = this.reader
    if (isReadingAll.value && !isDue(rows.read.value, this.#held.plants)) return this.#held
    this.#held = countTags(rows.parts.held(), !rows.parts.isHeld)
    return this.#held
  }

  /** The tags of all plants, as far as they were read, during a search too. */
  all(): CountedTags {
    const isSearch = !isEverything(this.reader.query.value)
    return isSearch ? (this.#beforeSearch.value ?? this.held()) : this.held()
  }

  /** Keeps the counts, as other plants are about to be shown. */
  keep(): void {
    if (isEverything(this.reader.query.value)) this.#beforeSearch.value = this.held()
  }

  /** Reads all plants to count their tags. */
  async read(): Promise<void> {
    const { reader } = this
    if (isEverything(reader.query.value)) await reader.withAll(() => reader.readAll())
    else if (this.#beforeSearch.value?.isPart !== false) {
      await reader.withAll(() => this.#readOthers())
    }
  }

  clear(): void {
    this.#beforeSearch.value = null
    this.#held = countTags([], true)
  }

  /** Reads the plants outside of the search, for their tags alone. */
  async #readOthers(): Promise<void> {
    const { session, generation } = this.reader
    const plants: NewPlant[] = []
    let counted = 0
    for await (const page of readPages(session, {}, { isDescending: false })) {
      if (generation !== this.reader.generation) return
      plants.push(...page.plants)
      const isLast = page.next === null || plants.length >= MAX_SORTED
      if (!isLast && !isDue(plants.length, counted)) continue
      counted = plants.length
      this.#beforeSearch.value = countTags(plants, page.next !== null)
      if (isLast) return
    }
  }
}
