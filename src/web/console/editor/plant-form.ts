// The form of a plant, stored or new: its stored fields, the typed ones, and the save.

import { signal } from '@preact/signals'
import { ERRORS, type Failure, type NewPlant, type PlantChange } from '../../../client/client.ts'
import { nextFreeId } from '../create-plants.ts'
import { INT64_RULE, parseId } from '../int64.ts'
import type { PlantList } from '../list/plant-list.ts'
import type { TextName } from '../texts.ts'
import { creationOf, type Step, withTexts } from '../undo/step.ts'
import { Draft } from './draft.ts'
import { errorsByField, type FieldErrors } from './field-errors.ts'

/** True if the ETag is of an earlier version. */
const isOutdated = ({ error }: Failure): boolean => error === ERRORS['precondition failed']

const problemOfId = (text: string): string => (text.trim() === '' ? 'id is missing' : INT64_RULE)

/** A plant as it was last read from the store. */
export type StoredVersion = { readonly plant: NewPlant; readonly etag: string | undefined }

/** The fields that both changed, and the plant as someone else saved it. */
type Conflict = StoredVersion & { readonly fields: readonly TextName[] }

export class PlantForm {
  readonly storedVersion = signal<StoredVersion | null>(null)
  readonly draft: Draft
  readonly errors = signal<FieldErrors>({})
  readonly conflict = signal<Conflict | null>(null)
  readonly isSaving = signal(false)
  /** True once someone else has deleted the plant. */
  readonly isDeleted = signal(false)
  /** The change of the latest save; null if nothing differed. */
  lastStep: Step | null = null
  /** Resolves once the plant was read again; to false if the form must not be saved then. */
  reading: Promise<boolean> = Promise.resolve(true)
  /** Resolves once the next free id is proposed. */
  proposing: Promise<void> = Promise.resolve()

  constructor(
    readonly list: PlantList,
    storedVersion: StoredVersion | null,
  ) {
    this.storedVersion.value = storedVersion
    this.draft = new Draft(storedVersion?.plant ?? null)
  }

  /** True if closing the form would lose something. */
  get isDirty(): boolean {
    return this.draft.isDirty(this.storedVersion.value?.plant ?? null)
  }

  /** The id of a stored plant; null for a new one. */
  get id(): bigint | null {
    return this.storedVersion.value?.plant.id ?? null
  }

  /** The fields of a stored plant that differ from it. */
  get changes(): PlantChange {
    const { value } = this.storedVersion
    return value ? this.draft.changesTo(value.plant) : {}
  }

  /** Replaces a taken id by a free one. */
  useFreeId(pending: Promise<readonly bigint[]>): void {
    this.draft.id.value = ''
    this.draft.proposedId.value = ''
    this.errors.value = {}
    this.proposeId(pending)
  }

  /** Proposes the id after the largest one, stored or pending. */
  proposeId(pending: Promise<readonly bigint[]>): void {
    const propose = async (): Promise<void> => {
      const id = await nextFreeId(this.list.session, await pending)
      if (id !== undefined) this.draft.propose(id === null ? null : String(id))
    }
    this.proposing = propose()
  }

  /** True if the form is valid; otherwise `errors` has the reasons. */
  check(): boolean {
    const { texts, id, proposedId } = this.draft
    const isNamed = texts.name.value.trim() !== ''
    const isNameless = !isNamed && texts.name.value !== this.storedVersion.value?.plant.name
    const isProposing =
      this.storedVersion.value !== null || (id.value === '' && proposedId.value === '')
    const idProblem = isProposing || parseId(id.value) !== null ? null : problemOfId(id.value)
    this.errors.value = {
      ...(isNameless ? { name: 'name is missing' } : {}),
      ...(idProblem === null ? {} : { id: idProblem }),
    }
    return !isNameless && idProblem === null
  }

  /**
   * Saves the form, once the service can; true if nothing is left to save. If it is refused, `errors` or `conflict` has
   * the reason.
   */
  async save(): Promise<boolean> {
    if (this.isSaving.value) return false
    this.isSaving.value = true
    this.errors.value = {}
    this.lastStep = null
    try {
      if (!(await this.reading) || this.conflict.value) return false
      const { value } = this.storedVersion
      return await (value ? this.#change(value) : this.#create())
    } finally {
      this.isSaving.value = false
    }
  }

  /** Resolves a conflict with the fields that someone else saved. */
  useTheirs(): void {
    const theirs = this.conflict.value
    if (!theirs) return
    this.draft.copyFields(theirs.plant, theirs.fields)
    this.conflict.value = null
  }

  /**
   * Reads the plant again. Copies fields that only someone else changed; those that both changed are a conflict.
   * Resolves to the copied fields, or to null if the plant could not be read.
   */
  async readAgain(): Promise<readonly TextName[] | null> {
    const before = this.storedVersion.value
    if (!before) return null
    const current = await this.list.session.persist((client) => client.readPlant(before.plant.id))
    if (!current.ok) {
      if (current.error === ERRORS['no such plant']) this.#markDeleted(before.plant.id)
      else this.errors.value = errorsByField(current)
      return null
    }
    this.list.put(current.value)
    const theirs: StoredVersion = { plant: current.value, etag: current.etag }
    const { adoptedFields, conflictingFields } = this.draft.merge(before.plant, theirs.plant)
    this.storedVersion.value = theirs
    if (conflictingFields.length > 0) this.conflict.value = { fields: conflictingFields, ...theirs }
    return adoptedFields
  }

  async #create(): Promise<boolean> {
    await this.proposing
    const id = parseId(this.draft.id.value)
    if (id === null) {
      this.errors.value = { id: problemOfId(this.draft.id.value) }
      return false
    }
    const plant = this.draft.toPlant(id)
    const result = await this.list.session.persistWrite((client) => client.createPlant(plant))
    const isAlreadyStored =
      !result.ok && result.error === ERRORS['stored already'] && result.isRepeated
    if (!result.ok && !isAlreadyStored) {
      this.errors.value = errorsByField(result)
      return false
    }
    this.lastStep = creationOf(plant)
    const isShown = this.list.add(plant)
    this.list.announce(`Plant ${id} was created${isShown ? '' : '; the search does not find it'}`)
    return true
  }

  /** Saves the changed fields. Changes by others are kept; a field that both changed is a conflict. */
  async #change(before: StoredVersion): Promise<boolean> {
    const { id } = before.plant
    const theirFields = new Set<TextName>()
    let landed: Step | null = null
    for (let base: StoredVersion | null = before; base; base = this.storedVersion.value) {
      const patch = this.draft.changesTo(base.plant)
      if (Object.keys(patch).length === 0) {
        this.lastStep = landed
        if (landed) this.#announceChange(id, theirFields)
        return true
      }
      const result = await this.#patch(base, patch)
      if (result.ok) {
        this.#announceChange(id, theirFields)
        return true
      }
      if (!isOutdated(result)) return false
      if (result.isRepeated)
        landed = { id, before: base.plant, after: withTexts(base.plant, patch) }
      const adoptedFields = await this.readAgain()
      if (!adoptedFields || this.conflict.value) return false
      for (const field of adoptedFields) theirFields.add(field)
    }
    return false
  }

  /** Patches the plant. If it is refused, `errors` has the reason, unless the ETag is outdated. */
  async #patch({ plant, etag }: StoredVersion, change: PlantChange) {
    const { id } = plant
    const options = etag === undefined ? {} : { ifMatch: etag }
    const result = await this.list.session.persistWrite((client) =>
      client.patchPlant(id, change, options),
    )
    if (result.ok) {
      this.lastStep = { id, before: plant, after: result.value }
      this.storedVersion.value = { plant: result.value, etag: result.etag }
      this.list.put(result.value)
    } else if (result.error === ERRORS['no such plant']) this.#markDeleted(id)
    else if (!isOutdated(result)) this.errors.value = errorsByField(result)
    return result
  }

  #announceChange(id: bigint, theirFields: ReadonlySet<TextName>): void {
    const theirs = [...theirFields]
      .map((field) => `the ${field} that someone else saved`)
      .join(' and ')
    this.list.announce(`Plant ${id} was changed${theirs === '' ? '' : `; ${theirs} was kept`}`)
  }

  #markDeleted(id: bigint): void {
    this.list.remove(id)
    this.isDeleted.value = true
  }
}
