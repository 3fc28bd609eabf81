// Deletions of many plants that were carried out: for a while, the plants can be created again.

import { signal } from '@preact/signals'
import type { NewPlant } from '../../../client/client.ts'
import { plantsOf } from '../counts.ts'
import { createPlants } from '../create-plants.ts'
import type { PlantList } from '../list/plant-list.ts'
import type { Session } from '../session.ts'

const RESTORABLE_MS = 30_000

type Deletion = { readonly key: number; readonly plants: readonly NewPlant[] }

export class Deletions {
  /** The deletions that can be taken back, in their order. */
  readonly recent = signal<readonly Deletion[]>([])
  #abort = new AbortController()

  constructor(
    readonly session: Session,
    readonly list: PlantList,
    readonly announce: (text: string) => void,
  ) {}

  add(deletion: Deletion): void {
    if (deletion.plants.length < 2) return
    this.recent.value = [...this.recent.value, deletion]
    setTimeout(() => this.#drop(deletion), RESTORABLE_MS)
  }

  /** Creates the plants of a deletion, or of the latest one, again. */
  async restore(deletion = this.recent.value.at(-1)): Promise<void> {
    if (!deletion) return
    this.#drop(deletion)
    const { plants } = deletion
    this.announce(`Restoring ${plantsOf(plants.length)}…`)
    const result = await createPlants(this.session, plants, this.#abort.signal)
    if (!this.session.isKnown.value) return
    if (!result.ok) {
      this.list.refresh()
      return this.announce(`Not all plants were restored: ${result.message}`)
    }
    const { created, known, refused } = result.value
    const taken = new Set(refused.map(({ plant }) => plant.id))
    this.list.putAll(plants.filter(({ id }) => !taken.has(id)))
    const left = taken.size === 0 ? '' : `; left out: ${taken.size} (the ID is taken)`
    this.announce(`${plantsOf(created + known)} restored${left}`)
  }

  /** Forgets them, and stops restoring. */
  clear(): void {
    this.#abort.abort()
    this.#abort = new AbortController()
    this.recent.value = []
  }

  #drop({ key }: Deletion): void {
    this.recent.value = this.recent.value.filter((it) => it.key !== key)
  }
}
