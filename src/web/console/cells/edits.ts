// The changes of cells, which can be undone: each on the condition that the plant is still as the change left it.

import { signal } from '@preact/signals'
import type { Failure } from '../../../client/client.ts'
import type { PlantList } from '../list/plant-list.ts'
import type { Session } from '../session.ts'
import type { TextName } from '../texts.ts'

const NOTED_MS = 8000

export type Edit = {
  readonly id: bigint
  readonly text: TextName
  readonly before: string | undefined
  readonly after: string
  readonly etag: string | undefined
  /** The latest action that could be undone when the cell was changed. */
  readonly action: number
}

export class Edits {
  /** The latest change, for a while. */
  readonly noted = signal<Edit | null>(null)
  #all: readonly Edit[] = []
  #noting = 0

  constructor(
    readonly session: Session,
    readonly list: PlantList,
    readonly announce: (text: string) => void,
  ) {}

  get last(): Edit | undefined {
    return this.#all.at(-1)
  }

  add(edit: Edit): void {
    this.#all = [...this.#all, edit]
    this.noted.value = edit
    clearTimeout(this.#noting)
    this.#noting = window.setTimeout(() => {
      this.noted.value = null
    }, NOTED_MS)
  }

  /** Gives a cell the text that it had before its change. */
  async undo(edit: Edit): Promise<void> {
    const { id, text, before, etag } = edit
    this.#all = this.#all.filter((it) => it !== edit)
    this.noted.value = null
    const patch = { [text]: before ?? null }
    const condition = etag === undefined ? {} : { ifMatch: etag }
    const result = await this.session.call((client) => client.patchPlant(id, patch, condition))
    if (!result.ok) return this.#refuse(edit, result)
    this.list.put(result.value)
    this.announce(`Plant ${id}: the ${text} is as it was before`)
  }

  clear(): void {
    this.#all = []
    this.noted.value = null
  }

  async #refuse({ id, text }: Edit, { error, message }: Failure): Promise<void> {
    const isChanged = error === 41201 || error === 40402
    this.announce(
      isChanged
        ? `Plant ${id} was changed elsewhere since; its ${text} was left as it is`
        : `Plant ${id}: ${message}`,
    )
    if (!isChanged) return
    const now = await this.session.call((client) => client.readPlant(id))
    if (now.ok) this.list.put(now.value)
    else if (now.error === 40402) this.list.remove(id)
  }
}
