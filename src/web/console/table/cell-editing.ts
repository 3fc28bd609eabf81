// The part of the table that edits cells in place, which is loaded once a token may write.

import type { ReadonlySignal } from '@preact/signals'
import type { ComponentChildren } from 'preact'
import type { NewPlant } from '../../../client/client.ts'
import type { TextName } from '../texts.ts'

export type CellEditing = {
  /** The column of the active cell, or null if the whole row is active. */
  readonly column: ReadonlySignal<TextName | null>
  /** Handles a key in the table; false for any other key. */
  onKey(event: KeyboardEvent): boolean
  /** Remembers the cell that was pressed, where a range may begin. */
  onPress(event: PointerEvent): void
  /** Selects a range while the pressed mouse moves over cells. */
  onDrag(event: PointerEvent): void
  /** Carries out a click at once. */
  onClick(event: MouseEvent, act: () => void): void
  /** True for a cell of a chosen range. */
  isInRange(row: number, text: TextName): boolean
  /** The state of a text that is not stored yet. */
  saveStateOf(plant: NewPlant, text: TextName): 'waiting' | 'refused' | null
  /** The field in place of the text of a cell; null if the cell is not edited. */
  fieldOf(plant: NewPlant, text: TextName): ComponentChildren
}
