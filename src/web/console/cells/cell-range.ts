// The selected cells of the table: one, or a range that Shift extends.

import { signal } from '@preact/signals'
import type { NewPlant } from '../../../client/client.ts'
import type { PlantList } from '../list/plant-list.ts'
import type { ActiveRow } from '../table/active-row.ts'
import { TEXTS, type TextName } from '../texts.ts'
import { type Step, withTexts } from '../undo/step.ts'
import type { Grid } from './grid.ts'

export type Cell = { readonly row: number; readonly text: TextName }
type Corner = { readonly row: number; readonly column: number }
/** A row with its plant. */
type Mark = { readonly row: number; readonly id: bigint | undefined }

export class CellRange {
  /** The column of the active cell, or null if the whole row is active. */
  readonly column = signal<TextName | null>(null)
  /** The row and column where a range begins, and the active row where it ends. */
  readonly #range = signal<{ start: Mark; column: number; end: Mark } | null>(null)

  constructor(
    readonly list: PlantList,
    readonly active: ActiveRow,
  ) {}

  /** True if several cells are selected. */
  get isRange(): boolean {
    return this.#anchor !== null
  }

  setColumn(column: TextName | null): void {
    this.#range.value = null
    this.column.value = column
  }

  /** Moves to the next or previous column, or to the whole row, which no range has. */
  moveColumn(by: -1 | 1, isExtended: boolean): void {
    const columns = isExtended && this.column.value !== null ? TEXTS : [null, ...TEXTS]
    const index = columns.indexOf(this.column.value as TextName) + by
    this.column.value = columns[Math.max(0, Math.min(index, columns.length - 1))] ?? null
  }

  /** Moves the active cell. The range is extended to it, from where it was if there is none, or ends. */
  move(isExtended: boolean, move: () => void): void {
    const isBegun = isExtended && this.column.value !== null
    const { row, column } = this.#anchor ?? this.#end
    const start = this.#mark(row)
    move()
    this.#range.value = isBegun ? { start, column, end: this.#mark(this.active.row.value) } : null
  }

  /** Extends a range to a cell, from the active cell, or else from `first`. */
  extendTo({ row, text }: Cell, first: Cell | null): void {
    if (this.column.value === null && first) {
      this.active.set(first.row)
      this.column.value = first.text
    }
    this.move(true, () => {
      this.active.set(row)
      this.column.value = text
    })
  }

  get #columnIndex(): number {
    return this.column.value === null ? 0 : TEXTS.indexOf(this.column.value)
  }

  get #end(): Corner {
    return { row: this.active.row.value, column: this.#columnIndex }
  }

  #mark(row: number): Mark {
    return { row, id: this.list.rows.row(row)?.id }
  }

  #rowOf({ row, id }: Mark): number {
    return id === undefined ? row : this.list.rows.rowOf(id)
  }

  /** The corner where the range begins; null if another row is active, or rows have come or gone between them. */
  get #anchor(): Corner | null {
    const range = this.#range.value
    if (!range) return null
    const { start, column, end } = range
    const [first, last] = [this.#rowOf(start), this.#rowOf(end)]
    const isSame = last === this.active.row.value && last - first === end.row - start.row
    return isSame ? { row: first, column } : null
  }

  /** The first and last corner. */
  get #corners(): readonly [Corner, Corner] {
    const end = this.#end
    const anchor = this.#anchor ?? end
    return [
      { row: Math.min(anchor.row, end.row), column: Math.min(anchor.column, end.column) },
      { row: Math.max(anchor.row, end.row), column: Math.max(anchor.column, end.column) },
    ]
  }

  /** True for a cell of the range, if several are selected. */
  has(row: number, text: TextName): boolean {
    if (!this.isRange) return false
    const [first, last] = this.#corners
    const column = TEXTS.indexOf(text)
    return row >= first.row && row <= last.row && column >= first.column && column <= last.column
  }

  /** The plants of the selected rows. */
  plants(): readonly NewPlant[] {
    const [first, last] = this.#corners
    return this.list.rows.heldPlants().slice(first.row, last.row + 1)
  }

  /** The texts of the selected cells of plants. */
  grid(plants: readonly NewPlant[]): Grid {
    const texts = this.#texts
    return plants.map((plant) => texts.map((text) => plant[text] ?? ''))
  }

  /** True if cells have columns enough, from the first selected one on. */
  hasRoomFor(grid: Grid): boolean {
    const [{ column }] = this.#corners
    return grid.every(({ length }) => length <= TEXTS.length - column)
  }

  /** True if the first selected column has names. */
  get hasNames(): boolean {
    return this.#texts[0] === 'name'
  }

  get #texts(): readonly TextName[] {
    const [first, last] = this.#corners
    return TEXTS.slice(first.column, last.column + 1)
  }

  /**
   * The changes that fill the selected cells with a grid: repeated if it is smaller, beyond them if it is larger; null
   * beyond the last row.
   */
  fill(grid: Grid): readonly Step[] | null {
    const [first, last] = this.#corners
    const width = grid[0]?.length ?? 0
    const rows = Math.max(last.row - first.row + 1, grid.length)
    const columns = Math.max(last.column - first.column + 1, width)
    const texts = TEXTS.slice(first.column, first.column + columns)
    const plants = this.list.rows.heldPlants().slice(first.row, first.row + rows)
    if (plants.length < rows) return null
    return plants.map((plant, offset) => {
      const cells = grid[offset % grid.length] ?? []
      const change = texts.map((text, column) => [text, cells[column % width] || null] as const)
      // A plant needs a name.
      const validChange = change.filter(([text, value]) => text !== 'name' || value !== null)
      return {
        id: plant.id,
        before: plant,
        after: withTexts(plant, Object.fromEntries(validChange)),
      }
    })
  }
}
