// The form that adds or edits one plant.

import { signal } from '@preact/signals'
import type { NewPlant } from '../../client/client.ts'
import { byField, type FieldErrors, INT64_RULE, parseId } from './field-errors.ts'
import type { PlantPages } from './plant-pages.ts'
import type { Session } from './session.ts'

/** A plant as it was last read from the store. */
type Stored = { readonly plant: NewPlant; readonly etag: string | undefined }

export type Editor = ReturnType<typeof createEditor>

// Text fields turn CR into LF. Comparing with that keeps an untouched field out of the patch.
const shown = (text: string): string => text.replaceAll('\r\n', '\n').replaceAll('\r', '\n')

export function createEditor(session: Session, pages: PlantPages, say: (text: string) => void) {
  const isOpen = signal(false)
  const stored = signal<Stored | null>(null)
  const id = signal('')
  const name = signal('')
  const tag = signal('')
  const errors = signal<FieldErrors>({})
  /** The plant as someone else saved it after it was opened here. */
  const conflict = signal<Stored | null>(null)
  const isSaving = signal(false)
  // Counts every opening and closing, so that a late answer leaves a newer form alone.
  let turn = 0

  function begin(isNowOpen: boolean): void {
    turn += 1
    isSaving.value = false
    isOpen.value = isNowOpen
  }

  function open(plant: Stored | null): void {
    stored.value = plant
    id.value = plant ? String(plant.plant.id) : ''
    name.value = shown(plant?.plant.name ?? '')
    tag.value = shown(plant?.plant.tag ?? '')
    errors.value = {}
    conflict.value = null
    begin(true)
  }

  const close = (): void => begin(false)

  async function create(): Promise<void> {
    const form = turn
    const parsed = parseId(id.value)
    if (parsed === null) {
      errors.value = { id: id.value.trim() === '' ? 'id is missing' : INT64_RULE }
      return
    }
    const plant = { id: parsed, name: name.value, ...(tag.value === '' ? {} : { tag: tag.value }) }
    const result = await session.call((client) => client.createPlant(plant))
    if (result.ok) {
      if (form === turn) close()
      pages.put(plant)
      say(`Plant ${plant.id} was created`)
    } else if (form === turn) {
      errors.value = byField(result)
    }
  }

  /** The fields that differ from the stored plant. */
  function changes({ plant }: Stored): { name?: string; tag?: string | null } {
    const isTagKept = tag.value === shown(plant.tag ?? '')
    return {
      ...(name.value === shown(plant.name) ? {} : { name: name.value }),
      ...(isTagKept ? {} : { tag: tag.value === '' ? null : tag.value }),
    }
  }

  async function showConflict(plantId: bigint): Promise<void> {
    const form = turn
    const now = await session.call((client) => client.readPlant(plantId))
    if (form !== turn) return
    if (!now.ok) {
      errors.value = byField(now)
      return
    }
    pages.put(now.value)
    conflict.value = { plant: now.value, etag: now.etag }
  }

  async function change(before: Stored): Promise<void> {
    const form = turn
    const { plant, etag } = before
    const patch = changes(before)
    if (Object.keys(patch).length === 0) return close()
    const options = etag === undefined ? {} : { ifMatch: etag }
    const result = await session.call((client) => client.patchPlant(plant.id, patch, options))
    if (result.ok) {
      if (form === turn) close()
      pages.put(result.value)
      say(`Plant ${plant.id} was changed`)
    } else if (form === turn) {
      if (result.error === 41201) await showConflict(plant.id)
      else errors.value = byField(result)
    }
  }

  return {
    isOpen,
    stored,
    id,
    name,
    tag,
    errors,
    conflict,
    isSaving,
    close,
    add: () => open(null),

    /** Opens a plant as it is stored now. */
    async edit({ id: plantId }: NewPlant): Promise<void> {
      const asked = ++turn
      const now = await session.call((client) => client.readPlant(plantId))
      if (asked !== turn) return
      if (now.ok) {
        pages.put(now.value)
        open({ plant: now.value, etag: now.etag })
        return
      }
      if (now.error === 40402) pages.hide(plantId)
      say(`Plant ${plantId}: ${now.message}`)
    },

    /** Saves the form. If that fails, it stays open and says why. */
    async save(): Promise<void> {
      if (isSaving.value) return
      isSaving.value = true
      errors.value = {}
      conflict.value = null
      const form = turn
      await (stored.value ? change(stored.value) : create()).finally(() => {
        if (form === turn) isSaving.value = false
      })
    },

    /** Resolves a conflict: keeps what was typed here, or what someone else saved. */
    async resolve(winner: 'mine' | 'theirs'): Promise<void> {
      const theirs = conflict.value
      if (!theirs) return
      if (winner === 'theirs') return open(theirs)
      stored.value = theirs
      await this.save()
    },
  }
}
