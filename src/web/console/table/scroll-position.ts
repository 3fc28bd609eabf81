// The scroll position of the table in its rows.

import { computed, effect, type ReadonlySignal, signal } from '@preact/signals'

// Rows drawn above and below the view, for fast scrolling.
const SPARE_ROWS = 12

export class ScrollPosition {
  readonly rowHeight = signal(44)
  readonly #view = signal(0)
  /** In pixels. */
  readonly top = signal(0)
  #element: HTMLElement | undefined

  constructor(readonly rows: ReadonlySignal<number>) {}

  /** The height of all rows. */
  readonly content = computed(() => this.rows.value * this.rowHeight.value)

  /** The rows to draw, and their distance from the first row. */
  readonly drawnRows = computed(() => {
    const height = this.rowHeight.value
    const top = this.top.value
    const first = Math.max(0, Math.floor(top / height) - SPARE_ROWS)
    const end = Math.min(this.rows.value, Math.ceil((top + this.#view.value) / height) + SPARE_ROWS)
    return { first, end, offset: first * height }
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
    return this.#element !== undefined && Math.abs(this.#element.scrollTop - this.top.value) > 1
  }

  /**
   * Follows the size of the scrolling element, and of a probe as high as a row; the track gets the height of all rows at
   * once, so that a row can be scrolled to before it is drawn. Call the result to stop.
   */
  attach(scroller: HTMLElement, probe: HTMLElement, track: HTMLElement): () => void {
    const stop = effect(() => {
      track.style.height = `${this.content.value}px`
    })
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
    return () => {
      stop()
      sizes.disconnect()
    }
  }

  setTop(to: number): void {
    this.top.value = Math.max(0, Math.min(to, this.content.value - this.#view.value))
    if (this.#element) this.#element.scrollTop = this.top.value
  }

  readonly onScroll = (): void => {
    this.top.value = this.#element?.scrollTop ?? 0
  }

  /** Scrolls by as little as possible to bring a row into view. */
  scrollIntoView(row: number): void {
    const above = row * this.rowHeight.value
    const below = above + this.rowHeight.value - this.#view.value
    if (above < this.top.value) this.setTop(above)
    else if (below > this.top.value) this.setTop(below)
  }
}
