// Reads changes, the newest first, and filters them.

import { computed, signal } from '@preact/signals'
import { type Change, ERRORS, type HistoryPage } from '../../../client/client.ts'
import { authorOf } from '../editor/author.ts'
import { fold } from '../list/local-search.ts'
import type { PlantList } from '../list/plant-list.ts'
import { TEXTS } from '../texts.ts'
import { creationOf } from '../undo/step.ts'
import type { UndoHistory } from '../undo/undo-history.ts'

// The limit of the service.
const PAGE_CHANGES = 500
/** The number of changes that "more" adds. */
const SHOWN_AT_ONCE = 50
// A filter that matches few changes reads up to this many pages at a time.
const MAX_PAGES = 20

/** The kinds of changes, as people see them, and their actions. */
export const KINDS = {
  Created: ['create'],
  Changed: ['replace', 'patch'],
  Deleted: ['delete'],
} as const satisfies Record<string, readonly Change['action'][]>
export type Kind = keyof typeof KINDS

type Filter = {
  /** Null for all kinds. */
  readonly kind: Kind | null
  /** Words of the author, the id and the texts, before the change or after it. */
  readonly text: string
}

const wordsOf = (change: Change): string => {
  const { id, before, after } = change
  const texts = TEXTS.flatMap((text) => [before?.[text] ?? '', after?.[text] ?? ''])
  return fold([authorOf(change), id, ...texts].join(' '))
}

export class RecentChanges {
  readonly filter = signal<Filter>({ kind: null, text: '' })
  readonly isReading = signal(false)
  /** The reason that nothing more was read. */
  readonly failure = signal('')
  /** The newest first, without gaps. */
  readonly #changes = signal<readonly Change[]>([])
  /** The cursor of older changes: null if there are none, undefined before the first read. */
  readonly #next = signal<string | null | undefined>(undefined)
  readonly #shownCount = signal(SHOWN_AT_ONCE)
  readonly #restoring = new Set<bigint>()

  readonly oldest = computed(() => this.#changes.value.at(-1))
  readonly matches = computed(() => this.#changes.value.filter(this.#matcherOf(this.filter.value)))
  readonly visibleChanges = computed(() => this.matches.value.slice(0, this.#shownCount.value))
  readonly hasMore = computed(
    () => this.#next.value !== null || this.matches.value.length > this.#shownCount.value,
  )
  /** The last change of each plant. */
  readonly #lastChanges = computed(() => {
    const last = new Map<bigint, Change>()
    for (const change of this.#changes.value) if (!last.has(change.id)) last.set(change.id, change)
    return last
  })

  constructor(
    readonly list: PlantList,
    readonly undoHistory: UndoHistory,
  ) {}

  /** True if a plant was not deleted by its last change. */
  isStored(id: bigint): boolean {
    return this.#lastChanges.value.get(id)?.after !== null
  }

  /** True if a change has deleted a plant that is still gone. */
  isLastDeletion(change: Change): boolean {
    return change.after === null && this.#lastChanges.value.get(change.id) === change
  }

  /** Reads until there are enough changes to show. */
  async read(): Promise<void> {
    if (this.isReading.value) return
    this.isReading.value = true
    this.failure.value = ''
    for (let pages = 0; pages < MAX_PAGES && this.#needsMore(); pages++) {
      const after = this.#next.value
      if (!(await (after ? this.#readOlder(after) : this.#readNewest()))) break
    }
    this.isReading.value = false
  }

  async readMore(): Promise<void> {
    this.#shownCount.value = this.visibleChanges.value.length + SHOWN_AT_ONCE
    await this.read()
  }

  async choose(change: Partial<Filter>): Promise<void> {
    this.filter.value = { ...this.filter.value, ...change }
    this.#shownCount.value = SHOWN_AT_ONCE
    await this.read()
  }

  /** Creates a deleted plant again. */
  async restore({ id, before }: Change): Promise<void> {
    if (!before || this.#restoring.has(id)) return
    this.#restoring.add(id)
    await this.undoHistory.do([creationOf({ id, ...before })])
    await this.#readNewest()
    this.#restoring.delete(id)
  }

  #needsMore(): boolean {
    return this.#next.value !== null && this.matches.value.length < this.#shownCount.value
  }

  /** Adds the changes since the last read; starts over if there are more than a page. */
  async #readNewest(): Promise<boolean> {
    const page = await this.#readPage({})
    if (!page) return false
    const knownCursors = new Set(this.#changes.value.map(({ cursor }) => cursor))
    const newChanges = page.changes.filter(({ cursor }) => !knownCursors.has(cursor))
    if (newChanges.length < page.changes.length)
      this.#changes.value = [...newChanges, ...this.#changes.value]
    else {
      this.#changes.value = page.changes
      this.#next.value = page.next
    }
    return true
  }

  async #readOlder(after: string): Promise<boolean> {
    const page = await this.#readPage({ after })
    if (!page) return false
    // The list may have started over meanwhile.
    if (this.#next.value === after) {
      this.#changes.value = [...this.#changes.value, ...page.changes]
      this.#next.value = page.next
    }
    return true
  }

  async #readPage(position: { readonly after?: string }): Promise<HistoryPage | null> {
    const page = await this.list.session.call((client) =>
      client.listHistory({ limit: PAGE_CHANGES, ...position }),
    )
    if (page.ok) return page.value
    this.failure.value = `Cannot read the changes: ${page.message}.`
    if (page.error === ERRORS['cursor expired']) {
      this.#changes.value = []
      this.#next.value = undefined
    }
    return null
  }

  #matcherOf({ kind, text }: Filter): (change: Change) => boolean {
    const words = fold(text).split(/\s+/).filter(Boolean)
    const hasWords = (folded: string): boolean => words.every((word) => folded.includes(word))
    return (change) =>
      (kind === null || KINDS[kind].some((action) => action === change.action)) &&
      (words.length === 0 || hasWords(wordsOf(change)))
  }
}
