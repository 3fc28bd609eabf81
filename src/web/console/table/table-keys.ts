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
  const plant = list.rows.row(scroll.active.row.value)
  const isInControl =
    event.target instanceof HTMLButtonElement || event.target instanceof HTMLInputElement
  if (event.key === 'Delete' && plant && !isReadOnly) {
    const selectedPlants = selection.plants()
    onDelete(selectedPlants.length > 0 ? selectedPlants : [plant])
  } else if (event.key === ' ' && plant && !isReadOnly && !isInControl) {
    void selection.toggle(plant, event.shiftKey)
  } else if (event.key === 'Enter' && plant && !isInControl) onOpen(plant, false)
  else if (event.key === 'F2' && plant && !isReadOnly) onOpen(plant, true)
  else {
    const move = scroll.moveOf(event.key)
    move?.()
    return move !== undefined
  }
  return true
}
