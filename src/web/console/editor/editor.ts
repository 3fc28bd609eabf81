// The panel beside the table: the page of a plant, the form that changes it, or the form of a new one.

import { signal } from '@preact/signals'
import { ERRORS, type HistoryPage, type Plant, type Result } from '../../../client/client.ts'
import { putOpenPlant, readOpenPlant } from '../address.ts'
import { countActs } from '../controls/hands.ts'
import type { PlantList } from '../list/plant-list.ts'
import type { Session } from '../session.ts'
import { PlantForm, type StoredPlant } from './plant-form.ts'
import type { Saves } from './saves.ts'

const HISTORY_PAGE = 20
const NO_HISTORY = { ok: true, value: { changes: [], next: null } } as const
const EMPTY: Plant = { name: '' }

export class Editor {
  /** The open plant; null if the panel is closed. */
  readonly form = signal<PlantForm | null>(null)
  /** True if the form is shown, and not only the page of the plant. */
  readonly isEditing = signal(false)
  /** The step that waits for the answer to "Discard?"; null if that is not asked. */
  readonly leaving = signal<(() => void) | null>(null)
  /** True if the form was opened from the page of the plant, to which it returns. */
  #isFromPage = false
  /** Counts the requests for a plant, of which the last is opened. */
  #requests = 0

  constructor(
    readonly session: Session,
    readonly list: PlantList,
    readonly saves: Saves,
    readonly announce: (text: string) => void,
  ) {}

  get openId(): bigint | null {
    return this.form.value?.stored.value?.plant.id ?? null
  }

  /** True if closing the panel would lose typed text. */
  get isDirty(): boolean {
    return this.isEditing.value && this.form.value?.isDirty === true
  }

  /** Opens the page of a plant as it is stored now, or its form. */
  async show(id: bigint, isForm = false): Promise<void> {
    const request = ++this.#requests
    const result = await this.session.call((client) => client.readPlant(id))
    if (request !== this.#requests) return
    if (result.ok) {
      this.list.put(result.value)
      this.leave(() => this.#open({ plant: result.value, etag: result.etag }, isForm))
      return
    }
    if (result.error === ERRORS['no such plant']) this.list.remove(id)
    this.announce(`Plant ${id}: ${result.message}`)
    putOpenPlant(this.openId)
  }

  /** Closes the page of a plant, or one that is about to open. */
  abandon(): void {
    this.#requests += 1
    if (!this.isEditing.value) this.close()
  }

  /** Opens the form of a new plant. */
  readonly add = (): void => this.leave(() => this.#begin(EMPTY))

  /** Opens the form of a new plant with the texts of another one. */
  duplicate(plant: Plant): void {
    this.leave(() => this.#begin(plant))
  }

  /** Adds the plant of the form, and opens the form of another one with the same tag. */
  readonly addAnother = (): void => {
    const tag = this.form.value?.draft.texts.tag.value
    this.save(() => this.#begin({ ...EMPTY, ...(tag ? { tag } : {}) }))
  }

  /** Opens the form of the plant whose page is open. */
  readonly edit = (): void => {
    this.isEditing.value = true
    this.#isFromPage = true
  }

  /** Opens a refused form, with its typed text. */
  openRefused(form: PlantForm): void {
    this.leave(() => {
      this.saves.take(form)
      this.isEditing.value = true
      this.#isFromPage = false
      this.#set(form)
    })
  }

  /** Opens or closes the plant in the URL. */
  follow(): void {
    const urlId = readOpenPlant()
    if (urlId === this.openId) return
    if (urlId === null) this.leave()
    else void this.show(urlId)
  }

  /** Takes over the change of an open plant by others, unless it is being saved. */
  async changed(id: bigint): Promise<void> {
    const form = this.form.value
    if (!form || id !== this.openId || form.isSaving.value) return
    const taken = await form.readAgain()
    if (this.form.value !== form || !taken || taken.length === 0) return
    this.announce(`Plant ${id}: ${taken.join(' and ')} changed elsewhere`)
  }

  /** Leaves the form, or takes another step, and saves it behind the page. If it is refused, it comes back. */
  save(then: () => void = this.#leaveSaved): void {
    const form = this.form.value
    if (!form?.check()) return
    form.conflict.value = null
    const isSaved = this.saves.save(form)
    then()
    void this.#watch(form, isSaved)
  }

  /** Stores an earlier version of the open plant. */
  async restore(version: Plant): Promise<void> {
    const form = this.form.value
    await form?.restore(version)
    if (form?.saved) this.saves.onSaved(form.saved)
  }

  readonly close = (): void => this.#set(null)

  /** Returns to the page of the plant if the form was opened there; otherwise closes the panel. */
  readonly cancel = (): void => {
    if (this.#isFromPage) this.#open(this.form.value?.stored.value ?? null, false)
    else this.close()
  }

  readonly #leaveSaved = (): void => {
    if (this.#isFromPage) this.isEditing.value = false
    else this.close()
    this.#isFromPage = false
  }

  /** Opens a refused form again, unless the user is busy elsewhere or another form is open: then a note offers it. */
  async #watch(form: PlantForm, isSaved: Promise<boolean>): Promise<void> {
    const acts = countActs()
    if ((await isSaved) || !this.saves.refusedForms.value.includes(form)) return
    const hasForm = this.form.value !== null && this.isEditing.value
    if (acts === countActs() && !hasForm) this.openRefused(form)
  }

  /** Closes the panel or takes another step, but asks first if that would lose typed text. */
  leave(then: () => void = this.close): void {
    if (this.isDirty) {
      this.leaving.value = then
      putOpenPlant(this.openId)
    } else then()
  }

  /** A page of the history of a plant; empty without a change log. */
  async history(id: bigint, after: string | null): Promise<Result<HistoryPage>> {
    if (!this.session.hasChangeLog.value) return NO_HISTORY
    const limits = { limit: HISTORY_PAGE, ...(after === null ? {} : { after }) }
    const page = await this.session.call((client) => client.history(id, limits))
    return page.ok || page.error !== ERRORS['no change log'] ? page : NO_HISTORY
  }

  #begin(texts: Plant): void {
    const form = this.#open(null, true)
    form.draft.begin(texts)
    form.proposeId(this.saves.newIds())
  }

  #open(stored: StoredPlant | null, isForm: boolean): PlantForm {
    const form = new PlantForm(this.session, this.list, this.announce, stored)
    this.isEditing.value = isForm
    this.#isFromPage = false
    this.#set(form)
    return form
  }

  #set(form: PlantForm | null): void {
    this.#requests += 1
    this.leaving.value = null
    const wasOpen = this.form.value !== null
    this.form.value = form
    // A link may name a plant that is opened only once there is a token.
    if (wasOpen || form) putOpenPlant(this.openId)
  }
}
