// Actions on one plant or many, with undo: shown at once, carried out once the time to undo has passed.

import { signal } from '@preact/signals'
import { createClient, type NewPlant } from '../../../client/client.ts'
import { plantsOf } from '../counts.ts'
import type { PlantList } from '../list/plant-list.ts'
import type { Selection } from '../list/selection.ts'
import type { Session } from '../session.ts'
import { inBatches } from './batch.ts'
import {
  type BulkAction,
  type Checked,
  check,
  describeOutcome,
  describeSkipped,
  GONE,
  isSkipped,
  readAndSend,
  type Skipped,
  send,
  show,
} from './bulk-action.ts'
import { Countdown } from './countdown.ts'
import { deletePlants, fitsLeaving, sendDeletions } from './delete-plants.ts'
import { Deletions } from './deletions.ts'
import { tagPlants } from './tag-plants.ts'

// Chromium carries out 256 requests of a page that is left.
const MAX_ON_LEAVING = 200

export type Pending = {
  readonly key: number
  readonly action: BulkAction
  /** The plants as they were before. */
  readonly plants: readonly NewPlant[]
  /** Those that were read again before they are tagged, by id. */
  readonly checked: Map<bigint, Checked>
  readonly leftMs: number
  /** The number of plants that were changed or skipped; 0 while it can be undone. */
  readonly done: number
}

export class PendingActions {
  readonly #countdown = new Countdown<Pending>((it) => void this.#run(it))
  readonly waiting = this.#countdown.waiting
  readonly isPaused = this.#countdown.isPaused
  readonly running = signal<readonly Pending[]>([])
  readonly deletions: Deletions
  #keys = 0

  constructor(
    readonly session: Session,
    readonly list: PlantList,
    readonly selection: Selection,
    readonly announce: (text: string) => void,
  ) {
    this.deletions = new Deletions(session, list, announce)
  }

  remove(plants: readonly NewPlant[]): Promise<void> {
    return this.#start({}, plants)
  }

  setTag(tag: string, plants: readonly NewPlant[]): Promise<void> {
    return this.#start({ tag }, plants)
  }

  /** Undoes an action, or the latest one; without one, restores what was just deleted. */
  undo(found = this.waiting.value.at(-1)): void {
    if (!found) return void this.deletions.restore()
    this.#countdown.update((it) => (it.key === found.key ? null : it))
    this.#putBack(found.plants)
  }

  undoAll(): void {
    const all = this.waiting.value
    this.#countdown.update(() => null)
    this.#putBack(all.flatMap(({ plants }) => plants))
  }

  /** True if leaving the page would drop a part of an action. */
  isAtRisk(): boolean {
    const all = this.waiting.value
    const tagged = all.filter(({ action }) => action.tag !== undefined)
    const isUnchecked = tagged.some(({ plants, checked }) =>
      plants.some(({ id }) => !checked.has(id)),
    )
    const count = tagged.reduce((sum, { plants }) => sum + plants.length, 0)
    const deleted = all.filter((it) => !tagged.includes(it)).flatMap(({ plants }) => plants)
    const isTooMuch = count > MAX_ON_LEAVING || !fitsLeaving(deleted)
    return this.running.value.length > 0 || isUnchecked || isTooMuch
  }

  /** Carries out every action at once, as the page or the token is about to go; the answers are lost. */
  leave(isPageGone = false): void {
    const { base, token } = this.session
    const all = [...this.waiting.value, ...this.running.value]
    this.#countdown.update(() => null)
    this.deletions.clear()
    const given = token()
    if (given === null) return
    const client = createClient({
      url: base,
      token: given,
      retries: 0,
      fetch: (url, init) => fetch(url, { ...init, keepalive: isPageGone }),
    })
    for (const { action, plants, checked, done } of all) {
      const left = plants.slice(done)
      if (action.tag === undefined) sendDeletions(client, left)
      else {
        for (const plant of left) {
          const it = checked.get(plant.id)
          // A page that is left gets no answers: it has asked before.
          if (it) void send(client, action, it)
          else if (!isPageGone) void readAndSend(client, action, plant)
        }
      }
    }
  }

  /** Shows the plants as they will be. One, or those to be tagged, are read again during the time to undo. */
  async #start(action: BulkAction, wanted: readonly NewPlant[]): Promise<void> {
    const key = ++this.#keys
    const plants = this.#takeOver(wanted)
    // At once: if rows moved later, the next click might hit the wrong one.
    show(this.list, action, plants)
    this.#countdown.start({ key, action, plants, checked: new Map(), done: 0 })
    if (action.tag !== undefined || plants.length === 1) await this.#check(key, action, plants)
  }

  async #check(key: number, action: BulkAction, plants: readonly NewPlant[]): Promise<void> {
    const skipped: Skipped[] = []
    const checks = inBatches(plants, (plant) => check(this.session, this.list, plant))
    for await (const part of checks) {
      // Undone, or carried out already, which reads the rest.
      if (!this.#countdown.has(key)) break
      skipped.push(...part.filter(isSkipped))
      this.#note(key, part)
    }
    const isUndone = !this.#countdown.has(key) && !this.running.value.some((it) => it.key === key)
    const isEmpty = skipped.length === plants.length
    if (skipped.length === 0 || (isUndone && !isEmpty)) return
    this.announce(describeSkipped(action, plants.length, skipped))
    if (plants.length > 1) this.#selectAgain(skipped)
  }

  /** Notes which plants were read again, and takes out the skipped ones. */
  #note(key: number, results: readonly (Checked | Skipped)[]): void {
    const gone = new Set(results.filter(isSkipped).map(({ plant }) => plant.id))
    this.#countdown.update((it) => {
      if (it.key !== key) return it
      for (const one of results) if (!isSkipped(one)) it.checked.set(one.plant.id, one)
      const plants = gone.size === 0 ? it.plants : it.plants.filter(({ id }) => !gone.has(id))
      return plants.length === 0 ? null : { ...it, plants }
    })
  }

  /** Takes plants out of earlier actions, as another one replaces these; returns them as they were before. */
  #takeOver(plants: readonly NewPlant[]): readonly NewPlant[] {
    const before = new Map(this.waiting.value.flatMap((it) => it.plants).map((it) => [it.id, it]))
    const taken = new Set(plants.map(({ id }) => id))
    this.#countdown.update((it) => {
      const kept = it.plants.filter(({ id }) => !taken.has(id))
      return kept.length > 0 ? { ...it, plants: kept } : null
    })
    return plants.map((plant) => before.get(plant.id) ?? plant)
  }

  async #run(pending: Pending): Promise<void> {
    const { key, action, plants } = pending
    const skipped: Skipped[] = []
    this.running.value = [...this.running.value, pending]
    const outcomes =
      action.tag === undefined
        ? deletePlants(this.session, this.list, plants)
        : tagPlants(this.session, this.list, pending)
    for await (const part of outcomes) {
      skipped.push(...part.filter((it) => it !== null))
      this.running.value = this.running.value.map((it) =>
        it.key === key ? { ...it, done: it.done + part.length } : it,
      )
    }
    this.running.value = this.running.value.filter((it) => it.key !== key)
    if (!this.session.isKnown.value) return
    if (action.tag === undefined) {
      const left = new Set(skipped.map(({ plant }) => plant.id))
      this.deletions.add({ key, plants: plants.filter(({ id }) => !left.has(id)) })
    }
    const outcome = describeOutcome(action, plants.length, skipped)
    if (outcome !== '') this.announce(outcome)
    if (plants.length > 1 || action.tag !== undefined) this.#selectAgain(skipped)
  }

  /** Selects skipped plants, for another try. */
  #selectAgain(skipped: readonly Skipped[]): void {
    const plants = skipped.filter(({ why }) => why !== GONE).map(({ plant }) => plant)
    if (plants.length > 0) this.selection.add(plants)
  }

  #putBack(plants: readonly NewPlant[]): void {
    // The button that was pressed goes, which not every browser reports.
    this.isPaused.value = false
    this.list.putAll(plants)
    const [first, another] = plants
    if (!first) return
    this.announce(another ? `${plantsOf(plants.length)} kept` : `Plant ${first.id} was kept`)
  }
}
