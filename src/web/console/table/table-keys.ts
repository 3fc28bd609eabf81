// The keys of the table.

import type { Selection } from '../list/selection.ts'
import type { CellEditing } from './cell-editing.ts'
import type { RowActions } from './plant-row.tsx'
import type { TableScroll } from './table-scroll.ts'

type TableParts = Pick<RowActions, 'onOpen' | 'onDelete'> & {
  readonly scroll: TableScroll
  readonly selection: Selection
  readonly cells: CellEditing | null
}

/** Handles a key; false for any other key. */
export function onTableKey(event: KeyboardEvent, table: TableParts): boolean {
  const { scroll, selection, onOpen, onDelete } = table
  const { list } = scroll
  const isReadOnly = list.session.isReadOnly.value
  if (event.key === 'Delete' && selection.isReading.value) {
    list.announce('Nothing was deleted: the plants are still being selected')
    return true
  }
  if (table.cells?.onKey(event)) return true
  if (event.altKey) return false
  if (event.ctrlKey || event.metaKey) {
    if (event.key !== 'a' || isReadOnly) return false
    void selection.addAll()
    return true
  }
  const { target, currentTarget } = event
  // On a control of the head, no row was announced: keys must not change one.
  const isInHead = target instanceof Element && target.closest('.head') !== null
  const plant = isInHead ? undefined : list.rows.row(scroll.active.row.value)
  const isInControl = target instanceof HTMLButtonElement || target instanceof HTMLInputElement
  if (event.key === 'Delete' && !isReadOnly && (plant || selection.size > 0)) {
    onDelete(selection.size > 0 || !plant ? selection.plants() : [plant])
  } else if (event.key === ' ' && plant && !isReadOnly && !isInControl) {
    selection.toggle(plant, event.shiftKey)
  } else if (event.key === 'Enter' && plant && !isInControl) onOpen(plant, false)
  else if (event.key === 'F2' && plant && !isReadOnly) onOpen(plant, true)
  else {
    const move = scroll.moveOf(event.key)
    // A screen reader announces the active row only while the grid has the focus.
    if (move && currentTarget instanceof HTMLElement) currentTarget.focus({ preventScroll: true })
    move?.()
    return move !== undefined
  }
  return true
}
