// Edits plants in the cells of the table, one cell at a time. A text is saved when its field loses the focus, on condition
// that no other user has changed it. A refused text stays in its cell, which is marked.

import { signal } from '@preact/signals'
import type { NewPlant } from '../../../client/client.ts'
import { copy } from '../controls/clipboard.ts'
import { countPlants } from '../counts.ts'
import type { BackgroundSaves } from '../editor/background-saves.ts'
import type { Editor } from '../editor/editor.ts'
import { PlantForm } from '../editor/plant-form.ts'
import type { PlantList } from '../list/plant-list.ts'
import type { Selection } from '../list/selection.ts'
import type { CellEditing } from '../table/cell-editing.ts'
import type { TableScroll } from '../table/table-scroll.ts'
import { TEXTS, type TextName } from '../texts.ts'
import { changedTexts } from '../undo/step.ts'
import type { UndoHistory } from '../undo/undo-history.ts'
import { CellField, type OpenCell } from './cell-field.tsx'
import { type Cell, CellRange } from './cell-range.ts'
import { type Grid, gridOf, htmlOf, readPastedGrid, textOf } from './grid.ts'

// A second click within this time and distance edits the cell, even if the first opened something below the mouse.
const DOUBLE_MS = 500
const DOUBLE_PX = 5
// A single-line field would drop line breaks.
const LINE_END = /[\r\n]/

type CellAddress = { readonly id: bigint; readonly text: TextName }

/** A first click. `cell`: null on a button; `isPanelOpen`: before the click. */
type Click = {
  readonly cell: Cell | null
  readonly isPanelOpen: boolean
  readonly event: MouseEvent
}

// Keys of an accent or an input method.
const COMPOSING: readonly string[] = ['Dead', 'Process']

// Of the row or, with Ctrl, of the table.
const EDGES: readonly string[] = ['Home', 'End']

const isText = (key: string): boolean => [...key].length === 1 && key !== ' '

type CellParts = {
  readonly list: PlantList
  readonly scroll: TableScroll
  readonly editor: Editor
  readonly saves: BackgroundSaves
  readonly selection: Selection
  readonly undoHistory: UndoHistory
}

const table = (): HTMLElement | null => document.querySelector('[role="grid"]')

/** True if the table has columns; with two lines per plant, the panel edits. */
const hasColumns = (): boolean => table()?.querySelector('.orders')?.checkVisibility() === false

/** True if the page runs from right to left, such as in a translation. */
const isMirrored = (): boolean => getComputedStyle(document.body).direction === 'rtl'

const hasMouse = (): boolean => matchMedia('(pointer: fine)').matches

/** The cell of a row whose column the mouse is in, or null. */
function cellOf({ clientX, clientY }: MouseEvent): Cell | null {
  // While the mouse is pressed, Firefox names the element where it was pressed.
  const row = document.elementFromPoint(clientX, clientY)?.closest<HTMLElement>('[data-row]')
  const text = TEXTS.find((name) => {
    const box = row?.querySelector(`[data-text="${name}"]`)?.getBoundingClientRect()
    return box && clientX >= box.left && clientX <= box.right
  })
  return row && text ? { row: Number(row.dataset.row), text } : null
}

export class CellEditor implements CellEditing {
  readonly #range: CellRange
  readonly #openCell = signal<OpenCell | null>(null)
  #lastClick: Click | null = null
  /** The pressed cell, where a range begins if no cell is active. */
  #pressedCell: Cell | null = null
  #isDragging = false

  constructor(readonly parts: CellParts) {
    this.#range = new CellRange(parts.list, parts.scroll.active)
    // Captured before other handlers: the panel that the first click opened may be below the mouse.
    addEventListener('click', this.#onSecondClick, true)
  }

  /** True if leaving the page would lose a change. */
  get hasUnsaved(): boolean {
    return this.#openCell.value?.form.isDirty === true
  }

  get column() {
    return this.#range.column
  }

  onKey(event: KeyboardEvent): boolean {
    const { key, target, shiftKey, altKey } = event
    if (target !== table() || !hasColumns() || altKey) return false
    const { value: column } = this.column
    const { active } = this.parts.scroll
    const isChord = event.ctrlKey || event.metaKey
    if (column && EDGES.includes(key)) {
      this.#range.move(shiftKey, this.#edgeOf(key, isChord))
      return true
    }
    if (isChord) return key.toLowerCase() === 'c' && this.#copy()
    const move = this.#moveOf(key, shiftKey)
    if (move) this.#range.move(shiftKey, move)
    else if (column === null) return false
    else if (key === 'Enter' || key === 'F2') this.#edit(active.row.value, column)
    else if (key === 'Delete' && this.parts.selection.size === 0) this.#fill([['']])
    else if (isText(key)) this.#edit(active.row.value, column, key)
    else {
      // The browser composes the character in the field.
      if (COMPOSING.includes(key)) this.#edit(active.row.value, column)
      return false
    }
    return true
  }

  /** What moves the active cell at a key; undefined for any other key. */
  #moveOf(key: string, isExtended: boolean): (() => void) | undefined {
    const [left, right] = isMirrored() ? ([1, -1] as const) : ([-1, 1] as const)
    const step = { ArrowLeft: left, ArrowRight: right }[key]
    if (step === undefined) return this.parts.scroll.moveOf(key)
    return () => this.#range.moveColumn(step, isExtended)
  }

  /** Moves to the first or last cell of the row, or of the table. */
  #edgeOf(key: string, isOfTable: boolean): () => void {
    const isFirst = key === 'Home'
    return () => {
      if (isOfTable) this.parts.scroll.moveOf(key)?.()
      this.#range.column.value = TEXTS.at(isFirst ? 0 : -1) ?? null
    }
  }

  /** Pastes cells into the selected ones; false if the clipboard has none. */
  onPaste({ clipboardData }: ClipboardEvent): boolean {
    // The target is where a text was selected last, or the body.
    if (document.activeElement !== table() || !hasColumns() || this.column.value === null)
      return false
    const dataOf = (type: string) => clipboardData?.getData(type) ?? ''
    const grid = readPastedGrid(dataOf('text/plain'), dataOf('text/html'), this.#range.isRange)
    if (!grid || !this.#range.hasRoomFor(grid)) return false
    this.#fill(grid)
    return true
  }

  onPress(event: PointerEvent): void {
    this.#isDragging = false
    if (!event.shiftKey) this.#pressedCell = hasColumns() ? cellOf(event) : null
  }

  readonly onDrag = (event: PointerEvent): void => {
    const first = this.#pressedCell
    // WebKit may mark text until the mouse is released.
    const isPressed = event.buttons === 1 || event.type === 'pointerup'
    if (!isPressed || event.shiftKey || event.pointerType !== 'mouse' || !first) return
    const cell = cellOf(event)
    const isOther = cell && (cell.row !== first.row || cell.text !== first.text)
    if (!cell || !(isOther || this.#isDragging)) return
    if (!this.#isDragging) this.#range.setColumn(null)
    this.#isDragging = true
    this.#extendTo(cell)
  }

  #extendTo(cell: Cell): void {
    this.#range.extendTo(cell, this.#pressedCell)
    // Without the text that the mouse has selected.
    getSelection()?.removeAllRanges()
    table()?.focus({ preventScroll: true })
  }

  /** Acts on a click at once, and remembers its cell for a second click. With Shift, it selects a range. */
  onClick(event: MouseEvent, act: () => void): void {
    // The mouse was released after it had selected a range.
    if (this.#isDragging) return
    const isButton = event.target instanceof Element && event.target.closest('button') !== null
    const cell = hasMouse() && hasColumns() && !isButton ? cellOf(event) : null
    if (event.shiftKey && cell) {
      this.#extendTo(cell)
      return
    }
    this.#range.setColumn(null)
    const isPanelOpen = this.parts.editor.form.value !== null
    this.#lastClick = { cell, isPanelOpen, event }
    act()
  }

  /** Edits the cell of the first click, and closes the plant that it opened. */
  readonly #onSecondClick = (event: MouseEvent): void => {
    const first = this.#lastClick
    this.#lastClick = null
    // A key presses a button without a count.
    if (!first || event.detail === 0) return
    const { timeStamp, clientX, clientY } = first.event
    const distance = Math.hypot(event.clientX - clientX, event.clientY - clientY)
    if (event.timeStamp - timeStamp > DOUBLE_MS || distance > DOUBLE_PX) return
    event.stopPropagation()
    event.preventDefault()
    if (!first.cell) return
    if (!first.isPanelOpen) this.parts.editor.abandon()
    this.#edit(first.cell.row, first.cell.text)
  }

  isInRange(row: number, text: TextName): boolean {
    return this.#range.has(row, text)
  }

  saveStateOf({ id }: NewPlant, text: TextName) {
    return this.parts.saves.saveStateOf(id, text)
  }

  fieldOf({ id }: NewPlant, text: TextName) {
    const cell = this.#openCell.value
    if (cell?.id !== id || cell.text !== text) return null
    return (
      <CellField
        cell={cell}
        tags={this.parts.list.tags}
        onEnd={(isSaved) => this.#end(isSaved)}
        onStep={(step) => this.#editNext(cell, step)}
        onLeave={() => this.#saveIfLeft(cell)}
        onRemoved={() => this.#continueInForm(cell)}
      />
    )
  }

  readonly copyTicked = (): void => void this.#copy()

  /** Copies the ticked plants, the chosen cells, or the plant of the active row. */
  #copy(): boolean {
    if (getSelection()?.isCollapsed === false) return false
    const { selection, list } = this.parts
    const areCells = selection.size === 0 && this.column.value !== null
    const plants = selection.size > 0 ? selection.plants() : this.#range.plants()
    if (plants.length === 0) return false
    const grid = areCells ? this.#range.grid(plants) : gridOf(plants)
    copy(textOf(grid), htmlOf(grid, areCells)).then(
      () => list.announce(areCells ? 'Copied' : `Copied ${countPlants(plants.length)}`),
      () => list.announce('Nothing was copied: the browser refused'),
    )
    return true
  }

  #fill(grid: Grid): void {
    const { undoHistory, list } = this.parts
    const filled = this.#range.fill(grid)
    const steps = filled?.filter((step) => changedTexts(step).length > 0) ?? []
    if (steps.length > 0) void undoHistory.do(steps)
    else if (!filled) list.announce('Nothing was changed: the range reaches beyond the last row')
    else if (this.#range.hasNames && grid.some(([name]) => name === ''))
      list.announce('Nothing was changed: a plant needs a name')
    else list.announce('Nothing was changed')
  }

  /** Opens a cell. `firstCharacter` replaces its text; without it, the text is selected. */
  #edit(row: number, text: TextName, firstCharacter?: string): void {
    const { list, scroll, editor, saves } = this.parts
    const plant = list.rows.row(row)
    if (!plant) return
    if (LINE_END.test(plant[text] ?? '')) {
      void editor.show(plant.id, true)
      return
    }
    if (editor.isDirty) {
      editor.leave(() => {
        editor.close()
        this.#edit(row, text, firstCharacter)
      })
      return
    }
    this.#save()
    scroll.activate(row)
    this.#range.setColumn(text)
    const refusedForm = saves.refusedFormOf(plant.id, text)
    if (refusedForm) {
      editor.openRefused(refusedForm)
      return
    }
    const form = new PlantForm(list, { plant, etag: undefined })
    form.reading = saves.queue.whenDone.then(async () => (await form.readAgain()) !== null)
    if (firstCharacter !== undefined) form.draft.texts[text].value = firstCharacter
    this.#openCell.value = { id: plant.id, text, form, row, isShown: firstCharacter !== undefined }
  }

  #end(isSaved: boolean): void {
    if (isSaved) this.#save()
    else this.#openCell.value = null
    table()?.focus()
  }

  /** Saves a cell, and edits the next one that can be edited. */
  #editNext(cell: OpenCell, step: 1 | -1): void {
    const { rows } = this.parts.list
    // The change may move the plant to another row.
    const neighbours = this.#neighbours(cell, step)
    this.#save()
    const next = neighbours.find(({ id, text }) => {
      const plant = rows.row(rows.rowOf(id))
      return plant && !LINE_END.test(plant[text] ?? '')
    })
    if (next) this.#edit(rows.rowOf(next.id), next.text)
    else table()?.focus()
  }

  /** The cells on one side of a cell: those of its plant, then those of the next one. */
  #neighbours({ id, text }: OpenCell, step: 1 | -1): readonly CellAddress[] {
    const texts = step > 0 ? TEXTS : TEXTS.toReversed()
    const [before, after] = this.parts.list.rows.neighbours(id)
    const other = step > 0 ? after : before
    return [
      ...texts.slice(texts.indexOf(text) + 1).map((name) => ({ id, text: name })),
      ...(other ? texts.map((name) => ({ id: other.id, text: name })) : []),
    ]
  }

  /** Saves a cell that has lost the focus; not if its row has only moved, or a modal dialog will return the focus. */
  #saveIfLeft(cell: OpenCell): void {
    // Waits until the browser has moved the focus, and the page the row.
    setTimeout(() => {
      const isInField = document.activeElement?.closest('.cell-field, dialog:modal')
      if (this.#openCell.value === cell && !isInField) this.#save()
    })
  }

  /**
   * Goes on in the panel if others have removed the row of a cell, or moved it out of sight: the next keys would change
   * another plant.
   */
  #continueInForm(cell: OpenCell): void {
    const { list, editor } = this.parts
    // Waits until the page has drawn the row.
    queueMicrotask(() => {
      if (this.#openCell.value !== cell || document.querySelector('.cell-field')) return
      if (list.rows.rowOf(cell.id) === cell.row) return this.#saveIfLeft(cell)
      this.#openCell.value = null
      editor.openTyped(cell.form, cell.text)
      void editor.onChanged(cell.id, true)
    })
  }

  /** Closes the open cell, and saves it in the background. */
  #save(): void {
    const cell = this.#openCell.value
    if (!cell) return
    this.#openCell.value = null
    const { id, form } = cell
    if (!form.isDirty) {
      if (form.isDeleted.value) this.parts.list.announce(`Plant ${id} was deleted elsewhere`)
    } else if (form.check()) void this.#saveForm(cell)
    else this.parts.list.announce(`Plant ${id} keeps its name: a plant needs one`)
  }

  /** Saves a cell, and shows the change in the panel too. */
  async #saveForm({ id, form }: OpenCell): Promise<void> {
    const { saves, editor } = this.parts
    if ((await saves.save(form)) && editor.openId === id) void editor.form.value?.readAgain()
  }

  forget(): void {
    this.#openCell.value = null
    this.#pressedCell = null
    this.#range.setColumn(null)
  }
}
