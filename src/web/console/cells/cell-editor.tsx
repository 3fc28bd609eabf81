// Plants that are changed in the cells of the table: one cell is a field at a time. A text is saved when its field is
// left, on the condition that nobody else has changed it; what is refused stays in its cell, which is marked.

import { effect, signal, untracked } from '@preact/signals'
import type { NewPlant } from '../../../client/client.ts'
import type { Editor } from '../editor/editor.ts'
import { PlantForm } from '../editor/plant-form.ts'
import type { Saves } from '../editor/saves.ts'
import type { PlantList } from '../list/plant-list.ts'
import type { Session } from '../session.ts'
import type { CellEditing } from '../table/cell-editing.ts'
import type { TableScroll } from '../table/table-scroll.ts'
import { TEXTS, type TextName } from '../texts.ts'
import { CellField, type OpenCell } from './cell-field.tsx'

// A second click within this time edits the cell, in place of what one click does.
const DOUBLE_MS = 250
// A field of one line would drop the ends of lines.
const LINE_END = /[\r\n]/

type Place = { readonly id: bigint; readonly text: TextName }

type CellParts = {
  readonly session: Session
  readonly list: PlantList
  readonly scroll: TableScroll
  readonly editor: Editor
  readonly saves: Saves
  readonly announce: (text: string) => void
}

const table = (): HTMLElement | null => document.querySelector('[role="grid"]')

/** True if the table has columns; in two lines a plant, the panel serves. */
const hasColumns = (): boolean => table()?.querySelector('.orders')?.checkVisibility() === false

const hasMouse = (): boolean => matchMedia('(pointer: fine)').matches

/** The text above or below which the mouse is in its row; null in none. */
function cellOf({ target, clientX }: MouseEvent): { row: number; text: TextName } | null {
  const row = target instanceof Element ? target.closest<HTMLElement>('[data-row]') : null
  const text = TEXTS.find((it) => {
    const box = row?.querySelector(`[data-text="${it}"]`)?.getBoundingClientRect()
    return box && clientX >= box.left && clientX <= box.right
  })
  return row && text ? { row: Number(row.dataset.row), text } : null
}

export class CellEditor implements CellEditing {
  readonly column = signal<TextName | null>(null)
  readonly #open = signal<OpenCell | null>(null)
  #click = 0

  constructor(readonly parts: CellParts) {
    const { session } = parts
    effect(() => {
      if (!session.isKnown.value) untracked(() => this.#forget())
    })
  }

  /** True if leaving the page would lose a change. */
  get isAtRisk(): boolean {
    return this.#open.value?.form.isDirty === true
  }

  onKey({ key, target }: KeyboardEvent): boolean {
    if (target !== table() || !hasColumns()) return false
    const columns = [null, ...TEXTS]
    const { value: column } = this.column
    const step = { ArrowLeft: -1, ArrowRight: 1 }[key]
    if (step !== undefined) {
      const at = columns.indexOf(column) + step
      this.column.value = columns[Math.max(0, Math.min(at, TEXTS.length))] ?? null
    } else if (column !== null && (key === 'Enter' || key === 'F2')) {
      this.#begin(this.parts.scroll.active.row.value, column)
    } else return false
    return true
  }

  onClick(event: MouseEvent, act: () => void): void {
    this.column.value = null
    clearTimeout(this.#click)
    // A key presses a button without a count.
    const isAlone = event.detail === 0 || !cellOf(event) || !hasMouse() || !hasColumns()
    if (isAlone) act()
    else if (event.detail === 1) this.#click = window.setTimeout(act, DOUBLE_MS)
  }

  onDoubleClick(event: MouseEvent): void {
    clearTimeout(this.#click)
    const cell = cellOf(event)
    if (cell && hasMouse() && hasColumns()) this.#begin(cell.row, cell.text)
  }

  markOf({ id }: NewPlant, text: TextName) {
    return this.parts.saves.markOf(id, text)
  }

  fieldOf({ id }: NewPlant, text: TextName) {
    const cell = this.#open.value
    if (cell?.id !== id || cell.text !== text) return null
    return (
      <CellField
        cell={cell}
        tags={() => this.parts.list.tags.held().counts}
        onEnd={(isSaved) => this.#end(isSaved)}
        onStep={(step) => this.#step(cell, step)}
        onLeave={() => this.#leave(cell)}
      />
    )
  }

  #begin(row: number, text: TextName): void {
    const { session, list, scroll, editor, saves, announce } = this.parts
    const plant = list.rows.row(row)
    if (!plant) return
    if (LINE_END.test(plant[text] ?? '')) {
      void editor.show(plant.id, true)
      return
    }
    if (editor.isDirty) {
      editor.leave(() => {
        editor.close()
        this.#begin(row, text)
      })
      return
    }
    this.#save()
    scroll.activate(row)
    this.column.value = text
    const refused = saves.refusedOf(plant.id, text)
    if (refused) {
      editor.openRefused(refused)
      return
    }
    const form = new PlantForm(session, list, announce, { plant, etag: undefined })
    form.reading = saves.settled.then(async () => (await form.readAgain()) !== null)
    this.#open.value = { id: plant.id, text, form, isShown: false }
  }

  #end(isSaved: boolean): void {
    if (isSaved) this.#save()
    else this.#open.value = null
    table()?.focus()
  }

  /** Saves a cell and goes on to the next one that can be edited. */
  #step(cell: OpenCell, step: 1 | -1): void {
    const { rows } = this.parts.list
    // A plant may leave its place with the change.
    const places = this.#around(cell, step)
    this.#save()
    const next = places.find(({ id, text }) => {
      const plant = rows.row(rows.rowOf(id))
      return plant && !LINE_END.test(plant[text] ?? '')
    })
    if (next) this.#begin(rows.rowOf(next.id), next.text)
    else table()?.focus()
  }

  /** The cells on one side of a cell: those of its plant, then those of the next one. */
  #around({ id, text }: OpenCell, step: 1 | -1): readonly Place[] {
    const texts = step > 0 ? TEXTS : TEXTS.toReversed()
    const [before, after] = this.parts.list.rows.around(id)
    const other = step > 0 ? after : before
    return [
      ...texts.slice(texts.indexOf(text) + 1).map((it) => ({ id, text: it })),
      ...(other ? texts.map((it) => ({ id: other.id, text: it })) : []),
    ]
  }

  /** Saves a cell that has lost the keyboard; not if its row has only moved. */
  #leave(cell: OpenCell): void {
    // Until then the browser has moved the keyboard, and the page the row.
    setTimeout(() => {
      const isInField = document.activeElement?.closest('.cell-field')
      if (this.#open.value === cell && !isInField) this.#save()
    })
  }

  /** Closes the open cell, and saves it behind the page. */
  #save(): void {
    const cell = this.#open.value
    if (!cell) return
    this.#open.value = null
    const { id, form } = cell
    if (!form.isDirty) {
      if (form.isGone.value) this.parts.announce(`Plant ${id} was deleted elsewhere`)
    } else if (form.check()) void this.#store(cell)
    else this.parts.announce(`Plant ${id} keeps its name: a plant needs one`)
  }

  /** Saves a cell, and shows the change in the panel too. */
  async #store({ id, form }: OpenCell): Promise<void> {
    const { saves, editor } = this.parts
    if ((await saves.save(form)) && editor.openId === id) void editor.form.value?.readAgain()
  }

  #forget(): void {
    this.#open.value = null
    this.column.value = null
  }
}
