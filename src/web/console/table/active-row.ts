// The active row follows its plant as other rows come or go, and returns to a plant whose deletion is undone.

import { signal } from '@preact/signals'
import type { PlantRows } from '../list/plant-rows.ts'

/** A plant and the row where it was last seen. */
export type RowMark = { readonly id: bigint; readonly row: number }

export const markOf = (rows: PlantRows, row: number): RowMark | null => {
  const id = rows.row(row)?.id
  return id === undefined ? null : { id, row }
}

export class ActiveRow {
  readonly row = signal(0)
  #mark: RowMark | null = null
  /** The deleted plant that was active. */
  #deletedId: bigint | null = null

  constructor(readonly rows: PlantRows) {}

  set(row: number): void {
    this.row.value = Math.max(0, Math.min(row, this.rows.count.value - 1))
    this.#mark = markOf(this.rows, this.row.peek())
    this.#deletedId = null
  }

  /** Moves with the plant. */
  follow(): void {
    if (!this.#mark) return
    const restoredRow = this.#deletedId === null ? -1 : this.rows.rowOf(this.#deletedId)
    const currentRow = restoredRow >= 0 ? restoredRow : this.rows.rowOf(this.#mark.id)
    if (currentRow < 0) this.#deletedId ??= this.#mark.id
    else if (restoredRow >= 0) this.#deletedId = null
    const row = currentRow < 0 ? this.row.peek() : currentRow
    this.row.value = Math.max(0, Math.min(row, this.rows.count.peek() - 1))
    this.#mark = markOf(this.rows, this.row.peek()) ?? this.#mark
  }

  reset(): void {
    this.row.value = 0
    this.#mark = null
    this.#deletedId = null
  }
}
