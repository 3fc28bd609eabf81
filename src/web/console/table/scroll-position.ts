// The scroll position of the table in its rows, and the position of its scroll bar, which may be shorter.

import { computed, type ReadonlySignal, signal } from '@preact/signals'
import { extentOf, moveContent, toScroll } from './scroll-map.ts'

// Rows drawn above and below the view, for fast scrolling.
const SPARE_ROWS = 12
const IDLE_MS = 150

export class ScrollPosition {
  readonly rowHeight = signal(44)
  readonly #view = signal(0)
  /** The position in the content, in pixels. */
  readonly top = signal(0)
  /** The position of the scroll bar. */
  readonly #scroll = signal(0)
  #element: HTMLElement | undefined
  #idle = 0

  constructor(readonly rows: ReadonlySignal<number>) {}

  readonly extent = computed(() =>
    extentOf(this.rows.value, this.rowHeight.value, this.#view.value),
  )

  /** The rows to draw, and their distance from the top of the track. */
  readonly drawnRows = computed(() => {
    const height = this.rowHeight.value
    const top = this.top.value
    const first = Math.max(0, Math.floor(top / height) - SPARE_ROWS)
    const end = Math.min(this.rows.value, Math.ceil((top + this.#view.value) / height) + SPARE_ROWS)
    return { first, end, offset: first * height - top + this.#scroll.value }
  })

  /** The first row in view that is not cut off. */
  get firstRow(): number {
    return Math.ceil(this.top.peek() / this.rowHeight.peek())
  }

  /** The number of rows by which Page Down moves. */
  get pageRows(): number {
    return Math.max(1, Math.floor(this.#view.value / this.rowHeight.value) - 1)
  }

  /** True if the browser has scrolled without an event so far: that must not be undone. */
  get isScrolled(): boolean {
    return this.#element !== undefined && this.#element.scrollTop !== this.#scroll.value
  }

  /** Follows the size of the scrolling element, and of a probe as high as a row. Call the result to stop. */
  attach(scroller: HTMLElement, probe: HTMLElement): () => void {
    this.#element = scroller
    const sizes = new ResizeObserver(() => {
      // After Disconnect they are gone, and on paper they are hidden: they measure 0.
      if (probe.offsetHeight === 0) return
      const row = Math.floor(this.top.value / this.rowHeight.value)
      const isTaller = probe.offsetHeight !== this.rowHeight.value
      this.rowHeight.value = probe.offsetHeight
      this.#view.value = scroller.clientHeight
      if (isTaller) this.setTop(row * this.rowHeight.value)
    })
    sizes.observe(scroller)
    sizes.observe(probe)
    return () => sizes.disconnect()
  }

  setTop(to: number): void {
    const { content } = this.extent.value
    this.top.value = Math.max(0, Math.min(to, content - this.#view.value))
    this.#setScroll(toScroll(this.top.value, this.extent.value))
  }

  /** Reads the position of the scroll bar; true if it moved up. */
  onScroll(): boolean {
    if (!this.#element) return false
    const from = this.#scroll.value
    const to = this.#element.scrollTop
    this.top.value = moveContent(this.top.value, from, to, this.extent.value)
    this.#scroll.value = to
    clearTimeout(this.#idle)
    // Small moves let the scroll bar drift from the position; this corrects it.
    this.#idle = window.setTimeout(() => {
      if (!this.isScrolled) this.#setScroll(toScroll(this.top.value, this.extent.value))
    }, IDLE_MS)
    return to < from
  }

  /** Scrolls by as little as possible to bring a row into view. */
  scrollIntoView(row: number): void {
    const above = row * this.rowHeight.value
    const below = above + this.rowHeight.value - this.#view.value
    if (above < this.top.value) this.setTop(above)
    else if (below > this.top.value) this.setTop(below)
  }

  #setScroll(to: number): void {
    if (!this.#element) return
    if (Math.abs(this.#element.scrollTop - to) > 0.5) this.#element.scrollTop = to
    this.#scroll.value = this.#element.scrollTop
  }
}
