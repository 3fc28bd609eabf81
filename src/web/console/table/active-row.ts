// The active row: it stays with its plant as others come or go, and returns to a plant whose deletion is undone.

import { signal } from '@preact/signals'
import type { PlantRows } from '../list/plant-rows.ts'

/** A plant and the row where it was last seen. */
export type Mark = { readonly id: bigint; readonly row: number }

export const markOf = (rows: PlantRows, row: number): Mark | null => {
  const id = rows.row(row)?.id
  return id === undefined ? null : { id, row }
}

export class ActiveRow {
  readonly row = signal(0)
  #mark: Mark | null = null
  /** The active plant that was deleted. */
  #gone: bigint | null = null

  constructor(readonly rows: PlantRows) {}

  set(row: number): void {
    this.row.value = Math.max(0, Math.min(row, this.rows.count.value - 1))
    this.#mark = markOf(this.rows, this.row.peek())
    this.#gone = null
  }

  /** Moves with the plant. */
  follow(): void {
    if (!this.#mark) return
    const back = this.#gone === null ? -1 : this.rows.rowOf(this.#gone)
    const currentRow = back >= 0 ? back : this.rows.rowOf(this.#mark.id)
    if (currentRow < 0) this.#gone ??= this.#mark.id
    else if (back >= 0) this.#gone = null
    const row = currentRow < 0 ? this.row.peek() : currentRow
    this.row.value = Math.max(0, Math.min(row, this.rows.count.peek() - 1))
    this.#mark = markOf(this.rows, this.row.peek()) ?? this.#mark
  }

  reset(): void {
    this.row.value = 0
    this.#mark = null
    this.#gone = null
  }
}
