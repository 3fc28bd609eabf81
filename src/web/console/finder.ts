// Which plants the table shows: all, those with a tag, or the one with an id.

import { signal } from '@preact/signals'
import type { NewPlant } from '../../client/client.ts'
import { byField, INT64_RULE, parseId } from './field-errors.ts'
import type { PlantPages } from './plant-pages.ts'
import type { Session } from './session.ts'
import type { TableScroll } from './table-scroll.ts'

export type Finder = ReturnType<typeof createFinder>

export function createFinder(session: Session, pages: PlantPages, scroll: TableScroll) {
  const id = signal('')
  const tag = signal('')
  const error = signal<string | null>(null)
  /** The tag that the table is filtered by. */
  const shownTag = signal<string | undefined>(undefined)
  /** Whether one plant, found by its id, is shown alone. */
  const isOne = signal(false)
  // Counts searches, so that a late answer does not replace a newer one.
  let asked = 0

  async function open(onlyTag: string | undefined): Promise<void> {
    asked += 1
    isOne.value = false
    error.value = null
    shownTag.value = onlyTag
    scroll.reset()
    await pages.open(onlyTag)
  }

  function showOne(plant: NewPlant): void {
    shownTag.value = undefined
    tag.value = ''
    isOne.value = true
    scroll.reset()
    pages.showOnly(plant)
  }

  return {
    id,
    tag,
    error,
    shownTag,
    isOne,

    /** Shows the plant with the typed id, or says why it cannot. */
    async findId(): Promise<void> {
      if (id.value.trim() === '') return open(shownTag.value)
      const search = ++asked
      const parsed = parseId(id.value)
      if (parsed === null) {
        error.value = INT64_RULE
        return
      }
      const found = await session.call((client) => client.readPlant(parsed))
      if (search !== asked) return
      if (found.ok) {
        error.value = null
        showOne(found.value)
      } else {
        const { id: ofId, form } = byField(found)
        error.value = ofId ?? form ?? found.message
      }
    },

    /** Shows the plants with the typed tag. */
    filterTag(): Promise<void> {
      id.value = ''
      return open(tag.value === '' ? undefined : tag.value)
    },

    /** Shows the plants with a tag. */
    showTag(text: string): Promise<void> {
      tag.value = text
      id.value = ''
      return open(text)
    },

    showAll(): Promise<void> {
      id.value = ''
      tag.value = ''
      return open(undefined)
    },

    /** Reloads what is shown. */
    reload(): Promise<void> {
      return isOne.value ? this.findId() : open(shownTag.value)
    },
  }
}
