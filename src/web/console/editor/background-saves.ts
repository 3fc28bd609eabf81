// Saves forms in the background, each in its turn, so that it has the latest ETag. A refused form keeps its text until it is
// opened again.

import { signal } from '@preact/signals'
import type { NewPlant } from '../../../client/client.ts'
import type { ChangeQueue } from '../change-queue.ts'
import { parseId } from '../int64.ts'
import type { PlantList } from '../list/plant-list.ts'
import type { TextName } from '../texts.ts'
import { type Step, withTexts } from '../undo/step.ts'
import type { PlantForm } from './plant-form.ts'

/** The form that changes a text of a plant. */
const findForm = (forms: readonly PlantForm[], id: bigint, text: TextName) =>
  forms.find((form) => form.id === id && text in form.changes)

export class BackgroundSaves {
  /** The forms that are being saved, in their order. */
  readonly pendingForms = signal<readonly PlantForm[]>([])
  readonly refusedForms = signal<readonly PlantForm[]>([])

  constructor(
    readonly list: PlantList,
    readonly queue: ChangeQueue,
    /** Called with each change, so that it can be undone. */
    readonly onSaved: (step: Step) => void,
  ) {}

  /** A stored plant with the texts that are not saved yet. */
  readonly withUnsaved = (plant: NewPlant): NewPlant =>
    [...this.refusedForms.value, ...this.pendingForms.value]
      .filter((form) => form.id === plant.id && !form.isDeleted.value)
      .reduce((visiblePlant, form) => withTexts(visiblePlant, form.changes), plant)

  /** True if leaving the page would lose something. */
  get hasUnsaved(): boolean {
    return this.pendingForms.value.length + this.refusedForms.value.length > 0
  }

  /** Saves a form after earlier changes, and shows its plant as it will be; resolves to true if it was stored. */
  save(form: PlantForm): Promise<boolean> {
    this.pendingForms.value = [...this.pendingForms.value, form]
    this.#show(form.id)
    const { ended } = this.list.session
    return this.queue.add(() => this.#saveNow(form, ended))
  }

  /** Removes a refused form, so that it can be opened. */
  removeRefused(form: PlantForm): void {
    this.refusedForms.value = this.refusedForms.value.filter((other) => other !== form)
    const storedPlant = form.storedVersion.value?.plant
    if (storedPlant && !form.isDeleted.value) this.list.put(storedPlant)
    this.#show(form.id)
  }

  /** The form in which a text was refused. */
  refusedFormOf(id: bigint, text: TextName): PlantForm | undefined {
    return findForm(this.refusedForms.value, id, text)
  }

  /** The state of a text that is not stored yet. */
  saveStateOf(id: bigint, text: TextName): 'waiting' | 'refused' | null {
    if (this.refusedFormOf(id, text)) return 'refused'
    return findForm(this.pendingForms.value, id, text) ? 'waiting' : null
  }

  /** Resolves to the ids of plants that are not created yet. */
  pendingIds(): Promise<readonly bigint[]> {
    const newForms = this.pendingForms.value.filter((form) => form.storedVersion.value === null)
    return Promise.all(newForms.map((form) => form.proposing)).then(() =>
      newForms.map((form) => parseId(form.draft.id.value)).filter((id) => id !== null),
    )
  }

  async #saveNow(form: PlantForm, ended: AbortSignal): Promise<boolean> {
    if (ended.aborted) return false
    const isSaved = await form.save()
    if (ended.aborted) return false
    this.pendingForms.value = this.pendingForms.value.filter((other) => other !== form)
    if (isSaved && form.lastStep) this.onSaved(form.lastStep)
    if (!isSaved) this.refusedForms.value = [...this.refusedForms.value, form]
    this.#show(form.id)
    return isSaved
  }

  /** Shows a plant with its unsaved changes. */
  #show(id: bigint | null): void {
    const plant = id === null ? undefined : this.list.rows.plant(id)
    if (plant) this.list.put(plant)
  }

  forget(): void {
    this.pendingForms.value = []
    this.refusedForms.value = []
  }
}
