// The texts of a form, compared with the plant as it is stored.

import { type Signal, signal } from '@preact/signals'
import type { NewPlant, Plant, PlantChange } from '../../../client/client.ts'
import { OPTIONAL_TEXTS } from '../../../client/contract.ts'
import { ofTexts, TEXTS, type TextName } from '../texts.ts'

// Text fields turn CR into LF. Comparing with that keeps an untouched field out of the patch.
const shownText = (text = ''): string => text.replaceAll('\r\n', '\n').replaceAll('\r', '\n')

export class Draft {
  readonly id = signal('')
  /** The next free id; '' until it is known, null if there is none. */
  readonly proposedId = signal<string | null>('')
  readonly texts: Readonly<Record<TextName, Signal<string>>> = ofTexts(() => signal(''))
  /** The texts that a new plant begins with. */
  #begun: Plant = { name: '' }

  constructor(plant: NewPlant | null) {
    if (!plant) return
    this.id.value = String(plant.id)
    this.fill(plant)
  }

  /** Begins a new plant with some texts, which do not count as typed. */
  begin(texts: Plant): void {
    this.#begun = texts
    this.fill(texts)
  }

  fill(plant: Plant): void {
    this.take(plant, TEXTS)
  }

  /** Takes over some fields of a plant. */
  take(plant: Plant, fields: readonly TextName[]): void {
    for (const field of fields) this.texts[field].value = shownText(plant[field])
  }

  /** Proposes the id, unless another one was typed meanwhile. */
  propose(id: string | null): void {
    this.proposedId.value = id
    if (this.id.value === '') this.id.value = id ?? ''
  }

  /** The plant to create. */
  plant(id: bigint): NewPlant {
    const { texts } = this
    const optional = OPTIONAL_TEXTS.filter((text) => texts[text].value !== '')
    return {
      id,
      name: texts.name.value,
      ...Object.fromEntries(optional.map((text) => [text, texts[text].value])),
    }
  }

  /** The fields that differ from the stored plant; null removes an optional field. */
  changes(plant: Plant): PlantChange {
    const changedTexts = TEXTS.filter((text) => this.texts[text].value !== shownText(plant[text]))
    const typed = (text: TextName) => this.texts[text].value || (text === 'name' ? '' : null)
    return Object.fromEntries(changedTexts.map((text) => [text, typed(text)]))
  }

  /** True if closing the form would lose something. */
  isDirty(plant: Plant | null): boolean {
    if (plant) return Object.keys(this.changes(plant)).length > 0
    const isTyped = Object.keys(this.changes(this.#begun)).length > 0
    return isTyped || this.id.value !== (this.proposedId.value ?? '')
  }

  /** Takes over the fields that only someone else changed. Returns those, and the ones that both changed. */
  merge(before: Plant, now: Plant): { taken: TextName[]; both: TextName[] } {
    const differing = TEXTS.filter(
      (field) => now[field] !== before[field] && this.texts[field].value !== shownText(now[field]),
    )
    const isUntouched = (field: TextName) => this.texts[field].value === shownText(before[field])
    const taken = differing.filter(isUntouched)
    this.take(now, taken)
    return { taken, both: differing.filter((field) => !taken.includes(field)) }
  }
}
