// The panel beside the table: the page of a plant, the form that changes it, or the form of a new one.

import { signal } from '@preact/signals'
import { ERRORS, type Plant } from '../../../client/client.ts'
import { readUrlPlant, setUrlPlant } from '../address.ts'
import type { PlantList } from '../list/plant-list.ts'
import type { TextName } from '../texts.ts'
import type { BackgroundSaves } from './background-saves.ts'
import { PlantForm, type StoredVersion } from './plant-form.ts'

const EMPTY_PLANT: Plant = { name: '' }

export class Editor {
  /** The form of the open plant; null if the panel is closed. */
  readonly form = signal<PlantForm | null>(null)
  /** True if the form is shown, and not only the page of the plant. */
  readonly isEditing = signal(false)
  /** The step to take if the user discards the typed text; null while there is no such question. */
  readonly stepAfterDiscard = signal<(() => void) | null>(null)
  /** The field in which typing goes on; null for the first field of a form. */
  typedField: TextName | null = null
  /** True if the form was opened from the page of the plant, to which it returns. */
  #isFromPage = false
  /** Counts the requests to open a plant; only the last one is opened. */
  #requests = 0

  constructor(
    readonly list: PlantList,
    readonly saves: BackgroundSaves,
  ) {}

  get openId(): bigint | null {
    return this.form.value?.storedVersion.value?.plant.id ?? null
  }

  /** True if closing the panel would lose typed text. */
  get isDirty(): boolean {
    return this.isEditing.value && this.form.value?.isDirty === true
  }

  /** Opens the page of a plant as it is stored now, or its form. */
  async show(id: bigint, isForm = false): Promise<void> {
    const request = ++this.#requests
    const result = await this.list.session.call((client) => client.readPlant(id))
    if (request !== this.#requests) return
    if (result.ok) {
      this.list.put(result.value)
      this.leave(() => this.#open({ plant: result.value, etag: result.etag }, isForm))
      return
    }
    if (result.error === ERRORS['no such plant']) this.list.remove(id)
    this.list.announce(`Plant ${id}: ${result.message}`)
    setUrlPlant(this.openId)
  }

  /** Closes the page of a plant, even if it is only about to open. */
  abandon(): void {
    this.#requests += 1
    if (!this.isEditing.value) this.close()
  }

  /** Opens the form of a new plant, with the texts of another one if it is given. */
  add(texts = EMPTY_PLANT): void {
    this.leave(() => this.#openNew(texts))
  }

  /** Adds the plant of the form, and opens the form of another one with the same tag. */
  readonly addAnother = (): void => {
    const tag = this.form.value?.draft.texts.tag.value
    this.save(() => this.#openNew({ ...EMPTY_PLANT, ...(tag ? { tag } : {}) }))
  }

  /** Opens the form of the plant whose page is open. */
  readonly edit = (): void => {
    this.isEditing.value = true
    this.#isFromPage = true
  }

  /** Opens a refused form, with its typed text. */
  openRefused(form: PlantForm): void {
    this.leave(() => {
      this.saves.removeRefused(form)
      this.#showForm(form)
    })
  }

  /** Opens a form in the midst of typing. */
  openTyped(form: PlantForm, field: TextName): void {
    this.leave(() => this.#showForm(form, field))
  }

  /** Opens the plant that the URL names, or closes the panel. */
  followUrl(): void {
    const urlId = readUrlPlant()
    if (urlId === this.openId) return
    if (urlId === null) this.leave()
    else void this.show(urlId)
  }

  /** Copies changes into the open form, unless it is being saved; those by others are announced. */
  async onChanged(id: bigint, isByOthers: boolean): Promise<void> {
    const form = this.form.value
    if (!form || id !== this.openId || form.isSaving.value) return
    const adoptedFields = await form.readAgain()
    if (this.form.value !== form || !isByOthers || !adoptedFields?.length) return
    this.list.announce(`Plant ${id}: ${adoptedFields.join(' and ')} changed elsewhere`)
  }

  /** Saves the form in the background, and leaves it or takes another step. If it is refused, it opens again. */
  save(then: () => void = this.#leaveSaved): void {
    const form = this.form.value
    if (!form?.check()) return
    form.conflict.value = null
    const isSaved = this.saves.save(form)
    then()
    void this.#reopenIfRefused(form, isSaved)
  }

  readonly close = (): void => this.#set(null)

  /** Returns to the page of the plant if the form was opened there; otherwise closes the panel. */
  readonly cancel = (): void => {
    if (this.#isFromPage) this.#open(this.form.value?.storedVersion.value ?? null, false)
    else this.close()
  }

  readonly #leaveSaved = (): void => {
    if (this.#isFromPage) this.isEditing.value = false
    else this.close()
    this.#isFromPage = false
  }

  /** Opens a refused form again, unless another one is open: then a note offers it. */
  async #reopenIfRefused(form: PlantForm, isSaved: Promise<boolean>): Promise<void> {
    if ((await isSaved) || !this.saves.refusedForms.value.includes(form)) return
    if (!this.form.value || !this.isEditing.value) this.openRefused(form)
  }

  /** Closes the panel or takes another step, but asks first if that would lose typed text. */
  leave(then: () => void = this.close): void {
    if (this.isDirty) {
      this.stepAfterDiscard.value = then
      setUrlPlant(this.openId)
    } else then()
  }

  #openNew(texts: Plant): void {
    const form = this.#open(null, true)
    form.draft.begin(texts)
    form.proposeId(this.saves.pendingIds())
  }

  #showForm(form: PlantForm, typedField: TextName | null = null): void {
    this.isEditing.value = true
    this.#isFromPage = false
    this.#set(form, typedField)
  }

  #open(version: StoredVersion | null, isForm: boolean): PlantForm {
    const form = new PlantForm(this.list, version)
    this.isEditing.value = isForm
    this.#isFromPage = false
    this.#set(form)
    return form
  }

  #set(form: PlantForm | null, typedField: TextName | null = null): void {
    this.#requests += 1
    this.typedField = typedField
    this.stepAfterDiscard.value = null
    const wasOpen = this.form.value !== null
    this.form.value = form
    // A link may name a plant that is opened only once there is a token.
    if (wasOpen || form) setUrlPlant(this.openId)
  }
}
