// What changed, read from the newest change back, and what of it a filter shows.

import { computed, signal } from '@preact/signals'
import type { Change, NewPlant } from '../../../client/client.ts'
import { authorOf } from '../editor/history.tsx'
import type { PlantList } from '../list/plant-list.ts'
import type { Session } from '../session.ts'

// The service reads no more at once.
const PAGE = 500
/** Changes that are shown more at a time. */
const SHOWN = 50
// A filter that finds few of them looks through this many pages at a time.
const MAX_PAGES = 20

/** The kinds of changes, as people see them, and their actions. */
export const KINDS = {
  Created: ['create'],
  Changed: ['replace', 'patch'],
  Deleted: ['delete'],
} as const satisfies Record<string, readonly Change['action'][]>
export type Kind = keyof typeof KINDS

export class RecentChanges {
  /** null: everyone. */
  readonly author = signal<string | null>(null)
  /** null: all kinds. */
  readonly kind = signal<Kind | null>(null)
  readonly isReading = signal(false)
  /** The reason that nothing more was read, or that a plant was not restored. */
  readonly problem = signal('')
  readonly restored = signal('')
  readonly #changes = signal<readonly Change[]>([])
  /** null: all was read. */
  readonly #next = signal<string | null | undefined>(undefined)
  readonly #wanted = signal(SHOWN)

  readonly authors = computed(() => [...new Set(this.#changes.value.map(authorOf))].sort())
  readonly #found = computed(() => this.#changes.value.filter((it) => this.#isWanted(it)))
  readonly shown = computed(() => this.#found.value.slice(0, this.#wanted.value))
  readonly hasMore = computed(
    () => this.#next.value !== null || this.#found.value.length > this.#wanted.value,
  )
  /** The deletions of the plants that have no later change. */
  readonly #lastDeletions = computed(() => {
    const last = new Map<bigint, Change>()
    for (const it of this.#changes.value) if (!last.has(it.id)) last.set(it.id, it)
    return new Set([...last.values()].filter(({ after }) => after === null))
  })

  constructor(
    readonly session: Session,
    readonly list: PlantList,
  ) {}

  /** True if a change has deleted a plant that is still gone. */
  isGone(change: Change): boolean {
    return this.#lastDeletions.value.has(change)
  }

  /** Reads until there is as much to be shown as is wanted. */
  async read(): Promise<void> {
    if (this.isReading.value) return
    this.isReading.value = true
    this.problem.value = ''
    for (let pages = 0; pages < MAX_PAGES && this.#lacksSome(); pages++) {
      if (!(await this.#readPage())) break
    }
    this.isReading.value = false
  }

  async readMore(): Promise<void> {
    this.#wanted.value = this.shown.value.length + SHOWN
    await this.read()
  }

  async choose(author: string | null, kind: Kind | null): Promise<void> {
    this.author.value = author
    this.kind.value = kind
    this.#wanted.value = SHOWN
    await this.read()
  }

  /** Creates a deleted plant again. */
  async restore({ id, before }: Change): Promise<void> {
    if (!before) return
    const plant: NewPlant = { id, ...before }
    this.problem.value = ''
    this.restored.value = ''
    const result = await this.session.call((client) => client.createPlant(plant))
    if (result.ok) {
      this.list.add(plant)
      this.restored.value = `Plant ${id} was restored`
    } else this.problem.value = `Plant ${id} was not restored: ${result.message}`
    await this.#readAgain()
  }

  async #readAgain(): Promise<void> {
    this.#changes.value = []
    this.#next.value = undefined
    const { value } = this.problem
    await this.read()
    this.problem.value ||= value
  }

  #lacksSome(): boolean {
    return this.#next.value !== null && this.#found.value.length < this.#wanted.value
  }

  async #readPage(): Promise<boolean> {
    const after = this.#next.value
    const page = await this.session.call((client) =>
      client.listHistory({ limit: PAGE, ...(after ? { after } : {}) }),
    )
    if (!page.ok) {
      this.problem.value = `Cannot read the changes: ${page.message}`
      return false
    }
    this.#changes.value = [...this.#changes.value, ...page.value.changes]
    this.#next.value = page.value.next
    return true
  }

  #isWanted(change: Change): boolean {
    const [author, kind] = [this.author.value, this.kind.value]
    if (author !== null && authorOf(change) !== author) return false
    return kind === null || KINDS[kind].some((action) => action === change.action)
  }
}
