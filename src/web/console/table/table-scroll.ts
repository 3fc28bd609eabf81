// Keyboard and scrolling of the table: keeps the active row and the rows in view in place as rows change.

import { effect, untracked } from '@preact/signals'
import { wasInTable } from '../controls/user-input.ts'
import type { PlantList } from '../list/plant-list.ts'
import { ActiveRow, markOf, type RowMark } from './active-row.ts'
import { ScrollPosition } from './scroll-position.ts'

export class TableScroll {
  readonly position: ScrollPosition
  readonly active: ActiveRow
  /** The first rows in view: the view moves with them if rows come or go above. */
  #marks: readonly RowMark[] = []

  constructor(readonly list: PlantList) {
    this.position = new ScrollPosition(list.rows.count)
    this.active = new ActiveRow(list.rows)
  }

  /** Follows the elements and the rows. Call the result to stop. */
  attach(scroller: HTMLElement, probe: HTMLElement, track: HTMLElement): () => void {
    const stops = [
      this.position.attach(scroller, probe, track),
      this.#readDrawnRows(),
      this.#keepView(),
      this.#resetWithView(),
      this.#showCreated(),
      this.#followExtent(),
    ]
    return () => {
      for (const stop of stops) stop()
    }
  }

  readonly onScroll = (): void => {
    this.position.onScroll()
    this.#mark()
  }

  /** Makes a row the active one, and brings it into view. */
  activate(row: number): void {
    this.active.set(row)
    this.position.scrollIntoView(this.active.row.value)
  }

  /** What moves the active row at a key; undefined for any other key. */
  moveOf(key: string): (() => void) | undefined {
    const row = this.active.row.value
    const { pageRows } = this.position
    const moves: Readonly<Record<string, () => void>> = {
      ArrowDown: () => this.activate(row + 1),
      ArrowUp: () => this.activate(row - 1),
      PageDown: () => this.activate(row + pageRows),
      PageUp: () => this.activate(row - pageRows),
      Home: () => this.activate(0),
      End: () => void this.#goToEnd(),
    }
    return moves[key]
  }

  /** Goes to the last plant, or of a list that is too long to hold to the last that was read. */
  async #goToEnd(): Promise<void> {
    const { list } = this
    if (list.isShort && !list.rows.isComplete.value) await list.readAll()
    this.activate(list.rows.count.value - 1)
  }

  #mark(): void {
    const { firstRow } = this.position
    this.#marks = [firstRow, firstRow + 1]
      .map((row) => markOf(this.list.rows, row))
      .filter((mark) => mark !== null)
  }

  #readDrawnRows(): () => void {
    return effect(() => {
      const { end } = this.position.drawnRows.value
      this.list.rows.version.value
      untracked(() => this.list.reader.readAround(end))
    })
  }

  /**
   * Moves the view with its rows as others come or go above; not with a row that moves alone, such as a renamed one.
   */
  #keepView(): () => void {
    const moveOf = ({ id, row }: RowMark): number => {
      const currentRow = this.list.rows.rowOf(id)
      return currentRow < 0 ? 0 : currentRow - row
    }
    const restoreView = (): void => {
      const { position } = this
      const by = this.#marks[0] ? moveOf(this.#marks[0]) : 0
      this.active.follow()
      const isCommon = this.#marks.every((mark) => moveOf(mark) === by)
      if (by !== 0 && isCommon && position.top.peek() > 0 && !position.isScrolled) {
        position.setTop(position.top.peek() + by * position.rowHeight.peek())
      }
      this.#mark()
    }
    return effect(() => {
      this.list.rows.version.value
      untracked(restoreView)
    })
  }

  /** Returns to the first row when other plants or another order are shown. */
  #resetWithView(): () => void {
    return effect(() => {
      this.list.query.value
      this.list.typedQuery.value
      this.list.sort.value
      untracked(() => {
        this.active.reset()
        this.#marks = []
        this.position.setTop(0)
      })
    })
  }

  /** Brings a plant that was just created into view, unless the user has gone on in the table. */
  #showCreated(): () => void {
    const { list } = this
    return effect(() => {
      const { value: id } = list.createdId
      if (id === null) return
      const row = untracked(() => list.rows.rowOf(id))
      if (row >= 0 && !wasInTable()) untracked(() => this.activate(row))
    })
  }

  /** Keeps the position within rows that have become fewer. */
  #followExtent(): () => void {
    return effect(() => {
      this.position.content.value
      this.list.rows.version.value
      queueMicrotask(() => {
        if (!this.position.isScrolled) this.position.setTop(this.position.top.peek())
      })
    })
  }
}
