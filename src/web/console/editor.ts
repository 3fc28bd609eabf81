// One plant: its page, the form that changes it, and the form that adds another.

import { signal } from '@preact/signals'
import type { HistoryPage, NewPlant, Plant, PlantChange, Result } from '../../client/client.ts'
import { OPTIONAL_TEXTS } from '../../client/types.ts'
import { putOpenPlant, readOpenPlant } from './address.ts'
import { byField, type FieldErrors, INT64_RULE, parseId } from './field-errors.ts'
import type { PlantList } from './plant-list.ts'
import type { Session } from './session.ts'
import { ofTexts, TEXTS, type TextName } from './texts.ts'

/** A plant as it was last read from the store. */
type Stored = { readonly plant: NewPlant; readonly etag: string | undefined }

/** The fields that both changed, and the plant as someone else saved it. */
type Conflict = Stored & { readonly fields: readonly TextName[] }

export type Editor = ReturnType<typeof createEditor>

const MAX = 2n ** 63n - 1n

// Text fields turn CR into LF. Comparing with that keeps an untouched field out of the patch.
const shown = (text: string): string => text.replaceAll('\r\n', '\n').replaceAll('\r', '\n')

export function createEditor(session: Session, list: PlantList, say: (text: string) => void) {
  const isOpen = signal(false)
  /** True if the form is open, and not only the page of the plant. */
  const isEditing = signal(false)
  // True if the form was opened from the page of the plant, to which it leads back.
  let isFromPage = false
  const stored = signal<Stored | null>(null)
  const id = signal('')
  /** The next free id; '' until it is known, null if there is none. */
  const proposed = signal<string | null>('')
  const texts = ofTexts(() => signal(''))
  const errors = signal<FieldErrors>({})
  const conflict = signal<Conflict | null>(null)
  /** What waits for the answer to whether to discard what was typed; null if that is not asked. */
  const leaving = signal<(() => void) | null>(null)
  const isSaving = signal(false)
  // Counts every opening and closing, so that a late answer leaves a newer form alone.
  let turn = 0
  // Counts the plants that were asked for, of which the last is opened.
  let asked = 0

  const openId = (): bigint | null => (isOpen.value ? (stored.value?.plant.id ?? null) : null)

  function begin(isNowOpen: boolean): void {
    turn += 1
    asked += 1
    isSaving.value = false
    leaving.value = null
    const wasOpen = isOpen.value
    isOpen.value = isNowOpen
    // A link may name a plant that is opened only once there is a token.
    if (wasOpen || isNowOpen) putOpenPlant(openId())
  }

  function open(plant: Stored | null, isForm: boolean): void {
    stored.value = plant
    isEditing.value = isForm
    isFromPage = false
    id.value = plant ? String(plant.plant.id) : ''
    proposed.value = ''
    for (const text of TEXTS) texts[text].value = shown(plant?.plant[text] ?? '')
    errors.value = {}
    conflict.value = null
    begin(true)
  }

  const close = (): void => begin(false)

  /** Leaves the form for the page of the plant, if it was opened there, or closes it. */
  function cancel(): void {
    if (isFromPage) open(stored.value, false)
    else close()
  }

  /** Leaves the form after it was saved, or goes on to what was asked for meanwhile. */
  const finish = (): void => (leaving.value ?? cancel)()

  /** Proposes the id after the largest one, unless another is typed meanwhile. */
  async function propose(): Promise<void> {
    const form = turn
    const last = await session.call((client) => client.listPlants({ order: 'desc', limit: 1 }))
    if (form !== turn || !last.ok) return
    const largest = last.value.plants[0]?.id ?? 0n
    proposed.value = largest < MAX ? String(largest + 1n) : null
    if (id.value === '') id.value = proposed.value ?? ''
  }

  async function create(): Promise<void> {
    const form = turn
    const parsed = parseId(id.value)
    if (parsed === null) {
      errors.value = { id: id.value.trim() === '' ? 'id is missing' : INT64_RULE }
      return
    }
    const optional = OPTIONAL_TEXTS.filter((text) => texts[text].value !== '')
    const plant: NewPlant = {
      id: parsed,
      name: texts.name.value,
      ...Object.fromEntries(optional.map((text) => [text, texts[text].value])),
    }
    const result = await session.call((client) => client.createPlant(plant))
    if (result.ok) {
      if (form === turn) finish()
      list.put(plant)
      say(`Plant ${plant.id} was created`)
    } else if (form === turn) {
      errors.value = byField(result)
    }
  }

  /** The fields that differ from the stored plant. */
  function changes({ plant }: Stored): PlantChange {
    const changed = TEXTS.filter((text) => texts[text].value !== shown(plant[text] ?? ''))
    const typed = (text: TextName) => texts[text].value || (text === 'name' ? '' : null)
    return Object.fromEntries(changed.map((text) => [text, typed(text)]))
  }

  /** Says that someone else deleted the plant; what was typed stays. */
  function tellGone(id: bigint): void {
    list.hide(id)
    list.forget(id)
    errors.value = {
      form: 'This plant was deleted elsewhere. Copy what you typed, if you need it.',
    }
  }

  /** Takes over the fields that only someone else changed. Returns those, and the ones that both changed. */
  function merge(before: Stored, now: Stored): { taken: TextName[]; both: TextName[] } {
    const taken: TextName[] = []
    const both: TextName[] = []
    for (const field of TEXTS) {
      const typed = texts[field]
      const theirs = shown(now.plant[field] ?? '')
      if (now.plant[field] === before.plant[field] || typed.value === theirs) continue
      if (typed.value === shown(before.plant[field] ?? '')) {
        typed.value = theirs
        taken.push(field)
      } else both.push(field)
    }
    return { taken, both }
  }

  /**
   * Reads the plant again. Fields that only someone else changed are taken over; it is asked about those that both changed.
   * Resolves to the fields taken over, or to null if the form has changed or the plant could not be read.
   */
  async function readAgain(before: Stored): Promise<readonly TextName[] | null> {
    const form = turn
    const now = await session.call((client) => client.readPlant(before.plant.id))
    if (form !== turn) return null
    if (!now.ok) {
      if (now.error === 40402) tellGone(before.plant.id)
      else errors.value = byField(now)
      return null
    }
    list.put(now.value)
    const theirs: Stored = { plant: now.value, etag: now.etag }
    const { taken, both } = merge(before, theirs)
    stored.value = theirs
    if (both.length > 0) conflict.value = { fields: both, ...theirs }
    return taken
  }

  /** Saves the changed fields. What someone else changed meanwhile is kept; a field that both changed is asked about. */
  async function change(before: Stored): Promise<void> {
    const form = turn
    const { id: plantId } = before.plant
    const kept = new Set<TextName>()
    for (let base: Stored | null = before; base; base = stored.value) {
      const patch = changes(base)
      if (Object.keys(patch).length === 0) return finish()
      const options = base.etag === undefined ? {} : { ifMatch: base.etag }
      const result = await session.call((client) => client.patchPlant(plantId, patch, options))
      if (result.ok) {
        if (form === turn) {
          stored.value = { plant: result.value, etag: result.etag }
          finish()
        }
        list.put(result.value)
        const theirs = [...kept]
          .map((field) => `the ${field} that someone else saved`)
          .join(' and ')
        say(`Plant ${plantId} was changed${theirs === '' ? '' : `; ${theirs} was kept`}`)
        return
      }
      if (form !== turn) return
      if (result.error === 40402) return tellGone(plantId)
      if (result.error !== 41201) {
        errors.value = byField(result)
        return
      }
      const taken = await readAgain(base)
      if (!taken) return
      for (const field of taken) kept.add(field)
      if (conflict.value) return
    }
  }

  function isDirty(): boolean {
    if (!isOpen.value || !isEditing.value) return false
    if (stored.value) return Object.keys(changes(stored.value)).length > 0
    const isTyped = TEXTS.some((text) => texts[text].value !== '')
    return isTyped || id.value !== (proposed.value ?? '')
  }

  /** Closes the form or does something else with it, but asks first if that would lose what was typed. */
  function leave(then: () => void = close): void {
    if (isDirty()) {
      leaving.value = then
      putOpenPlant(openId())
    } else then()
  }

  /** Opens the page of a plant as it is stored now, or its form. */
  async function show(plantId: bigint, isForm = false): Promise<void> {
    const turnOfAsking = ++asked
    const now = await session.call((client) => client.readPlant(plantId))
    if (turnOfAsking !== asked) return
    if (now.ok) {
      list.put(now.value)
      leave(() => open({ plant: now.value, etag: now.etag }, isForm))
      return
    }
    if (now.error === 40402) {
      list.hide(plantId)
      list.forget(plantId)
    }
    say(`Plant ${plantId}: ${now.message}`)
    putOpenPlant(openId())
  }

  return {
    isOpen,
    isEditing,
    stored,
    id,
    proposed,
    texts,
    errors,
    conflict,
    isSaving,
    leaving,
    openId,
    close,
    cancel,
    leave,
    show,

    /** Opens the form of the plant whose page is open. */
    edit(): void {
      isEditing.value = true
      isFromPage = true
    },

    /** Opens a form for a new plant. */
    add(): void {
      leave(() => {
        open(null, true)
        void propose()
      })
    },

    /** Opens or closes the plant that the address says. */
    follow(): void {
      const wanted = readOpenPlant()
      if (wanted === openId()) return
      if (wanted === null) leave()
      else void show(wanted)
    },

    /** Takes over what someone else made of a plant, if it is open and nothing is being saved. */
    async changed(plantId: bigint): Promise<void> {
      const before = stored.value
      if (!before || plantId !== openId() || isSaving.value) return
      const taken = await readAgain(before)
      if (taken && taken.length > 0)
        say(`Plant ${plantId}: ${taken.join(' and ')} changed elsewhere`)
    },

    /** Saves the form. If that fails, it stays open and says why. */
    async save(): Promise<void> {
      if (isSaving.value) return
      isSaving.value = true
      errors.value = {}
      conflict.value = null
      leaving.value = null
      const form = turn
      await (stored.value ? change(stored.value) : create()).finally(() => {
        if (form === turn) isSaving.value = false
      })
    },

    /** Resolves a conflict: saves what was typed here, or takes over what someone else saved. */
    async resolve(winner: 'mine' | 'theirs'): Promise<void> {
      const theirs = conflict.value
      if (!theirs) return
      if (winner === 'mine') return this.save()
      for (const field of theirs.fields) texts[field].value = shown(theirs.plant[field] ?? '')
      conflict.value = null
    },

    /** True if closing would lose what was typed. */
    isDirty,

    /** A page of what a plant was; empty without a change log. */
    async history(plantId: bigint, after: string | null): Promise<Result<HistoryPage>> {
      if (!session.hasChangeLog.value) return { ok: true, value: { changes: [], next: null } }
      return session.call((client) =>
        client.history(plantId, { limit: 20, ...(after === null ? {} : { after }) }),
      )
    },

    /** Puts an earlier version into the form. */
    restore(version: Plant): void {
      this.edit()
      for (const text of TEXTS) texts[text].value = shown(version[text] ?? '')
    },
  }
}
