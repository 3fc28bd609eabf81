// The tags of all plants, each with its number of plants, as the service counts them.

import { signal } from '@preact/signals'
import type { Result, TagPage, TagsQuery } from '../../../client/client.ts'
import type { Session } from '../session.ts'

const PAGE_TAGS = 1000
const MAX_TAGS = 10_000

type TagTotals = {
  /** The most used first. */
  readonly counts: ReadonlyMap<string, number>
  /** The number of plants without one; null if it is unknown. */
  readonly untagged: number | null
  /** True if there are more tags. */
  readonly isPart: boolean
}

export class Tags {
  /** null until they were read. */
  readonly tagCounts = signal<TagTotals | null>(null)
  /** The number of changes that may affect the counts. */
  #changes = 0
  #readChanges = -1
  /** Identifies the read in progress. */
  #reading: symbol | null = null

  constructor(readonly session: Session) {}

  get counts(): ReadonlyMap<string, number> {
    return this.tagCounts.value?.counts ?? new Map()
  }

  /** Marks the counts as outdated: the next use reads them again. */
  markStale(): void {
    this.#changes += 1
  }

  /** Forgets the tags. */
  clear(): void {
    this.markStale()
    this.#reading = null
    this.tagCounts.value = null
  }

  /** Reads the tags, unless nothing has changed since the last read. */
  async read(): Promise<void> {
    const changes = this.#changes
    if (this.#reading || this.#readChanges === changes) return
    const reading = Symbol()
    this.#reading = reading
    const totals = await this.#count()
    // The tags were forgotten during the read.
    if (this.#reading !== reading) return
    this.#reading = null
    if (!totals) return
    this.#readChanges = changes
    this.tagCounts.value = totals
  }

  /** null if a request was refused. */
  async #count(): Promise<TagTotals | null> {
    const all: (readonly [tag: string, plants: number])[] = []
    let taggedPlants = 0
    let next: string | null = null
    do {
      const query: TagsQuery = { limit: PAGE_TAGS, ...(next === null ? {} : { after: next }) }
      const page: Result<TagPage> = await this.session.persist((client) => client.listTags(query))
      if (!page.ok) return null
      for (const { tag, plants } of page.value.tags) {
        all.push([tag, plants])
        taggedPlants += plants
      }
      next = page.value.next
    } while (next !== null && all.length < MAX_TAGS)
    const isPart = next !== null
    const status = isPart ? null : await this.session.persist((client) => client.readStatus())
    const plants = status?.ok ? status.value.plants : null
    const counts = new Map(all.sort(([a, many], [b, more]) => more - many || (a < b ? -1 : 1)))
    // Others may have deleted some between the two requests.
    return { counts, untagged: plants === null ? null : Math.max(0, plants - taggedPlants), isPart }
  }
}
