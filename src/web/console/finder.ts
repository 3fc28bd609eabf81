// Which plants the table shows; the address has it too, so that back, reload and a shared link work.

import { signal } from '@preact/signals'
import { putSearch, readSearch } from './address.ts'
import type { PlantPages } from './plant-pages.ts'
import { parseQuery, type Query, textOf } from './query.ts'
import type { TableScroll } from './table-scroll.ts'

export type Finder = ReturnType<typeof createFinder>

export function createFinder(pages: PlantPages, scroll: TableScroll) {
  /** What is typed and not yet searched for. */
  const text = signal('')
  const error = signal<string | null>(null)
  const query = signal<Query>({})

  async function open(wanted: Query): Promise<void> {
    error.value = null
    text.value = ''
    query.value = wanted
    scroll.reset()
    await pages.open(wanted)
  }

  /** Shows other plants, and puts them into the address. */
  function show(wanted: Query): Promise<void> {
    putSearch(textOf(wanted))
    return open(wanted)
  }

  return {
    text,
    error,
    query,
    show,

    /** Searches for what is typed, among the plants of the tag or name that is already looked for. */
    async search(): Promise<void> {
      const typed = parseQuery(text.value)
      if ('problem' in typed) {
        error.value = typed.problem
        return
      }
      const { id: _, ...before } = query.value
      await show(typed.id === undefined ? { ...before, ...typed } : typed)
    },

    /** No longer looks for one of the things. */
    drop(key: keyof Query): Promise<void> {
      const { [key]: _, ...rest } = query.value
      return show(rest)
    },

    /** Shows what the address says. */
    follow: (): Promise<void> => open(readSearch()),

    /** Whether the address says something else, after Back or Forward. */
    isElsewhere: (): boolean => textOf(readSearch()) !== textOf(query.value),

    /** Reads what is shown again, in place. */
    reload: (): void => pages.refresh(),
  }
}
