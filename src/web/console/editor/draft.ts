// The texts of a form, and how they differ from the stored plant.

import { type Signal, signal } from '@preact/signals'
import type { NewPlant, Plant, PlantChange } from '../../../client/client.ts'
import { OPTIONAL_TEXTS } from '../../../client/contract.ts'
import { ofTexts, TEXTS, type TextName } from '../texts.ts'

// Text fields turn CR into LF. Comparing with LF keeps untouched fields out of the patch.
const shownText = (text = ''): string => text.replaceAll('\r\n', '\n').replaceAll('\r', '\n')

export class Draft {
  readonly id = signal('')
  /** The next free id; '' until it is known, null if there is none. */
  readonly proposedId = signal<string | null>('')
  readonly texts: Readonly<Record<TextName, Signal<string>>> = ofTexts(() => signal(''))
  /** The texts that a new plant begins with. */
  #initialTexts: Plant = { name: '' }

  constructor(plant: NewPlant | null) {
    if (!plant) return
    this.id.value = String(plant.id)
    this.fill(plant)
  }

  /** Begins a new plant with some texts, which do not count as changes. */
  begin(texts: Plant): void {
    this.#initialTexts = texts
    this.fill(texts)
  }

  fill(plant: Plant): void {
    this.copyFields(plant, TEXTS)
  }

  /** Copies some fields of a plant into the form. */
  copyFields(plant: Plant, fields: readonly TextName[]): void {
    for (const field of fields) this.texts[field].value = shownText(plant[field])
  }

  /** Proposes the id, unless another one was typed meanwhile. */
  propose(id: string | null): void {
    this.proposedId.value = id
    if (this.id.value === '') this.id.value = id ?? ''
  }

  /** The plant to create. */
  toPlant(id: bigint): NewPlant {
    const { texts } = this
    const optional = OPTIONAL_TEXTS.filter((text) => texts[text].value !== '')
    return {
      id,
      name: texts.name.value,
      ...Object.fromEntries(optional.map((text) => [text, texts[text].value])),
    }
  }

  /** The fields that differ from the stored plant; null removes an optional field. */
  changesTo(plant: Plant): PlantChange {
    const changedTexts = TEXTS.filter((text) => this.texts[text].value !== shownText(plant[text]))
    const typedText = (text: TextName) => this.texts[text].value || (text === 'name' ? '' : null)
    return Object.fromEntries(changedTexts.map((text) => [text, typedText(text)]))
  }

  /** True if closing the form would lose something. */
  isDirty(plant: Plant | null): boolean {
    if (plant) return Object.keys(this.changesTo(plant)).length > 0
    const isTyped = Object.keys(this.changesTo(this.#initialTexts)).length > 0
    return isTyped || this.id.value !== (this.proposedId.value ?? '')
  }

  /** Copies the fields that only someone else changed. Returns them, and the fields that both changed. */
  merge(before: Plant, now: Plant): { adoptedFields: TextName[]; conflictingFields: TextName[] } {
    const differing = TEXTS.filter(
      (field) => now[field] !== before[field] && this.texts[field].value !== shownText(now[field]),
    )
    const isUntouched = (field: TextName) => this.texts[field].value === shownText(before[field])
    const adoptedFields = differing.filter(isUntouched)
    this.copyFields(now, adoptedFields)
    return {
      adoptedFields,
      conflictingFields: differing.filter((field) => !adoptedFields.includes(field)),
    }
  }
}
