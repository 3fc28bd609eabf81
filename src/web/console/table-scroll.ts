// Which rows of the table are in view, and which one is active.

import { computed, effect, signal, untracked } from '@preact/signals'
import type { PlantPages } from './plant-pages.ts'
import { extentOf, move, toScroll } from './scroll-map.ts'

// Rows drawn above and below the view, for fast scrolling.
const SPARE_ROWS = 12
const IDLE_MS = 150

export type TableScroll = ReturnType<typeof createTableScroll>

export function createTableScroll(pages: PlantPages) {
  const rowHeight = signal(44)
  const view = signal(0)
  /** The position in the content, in pixels. */
  const top = signal(0)
  /** The position of the scroll bar. */
  const scroll = signal(0)
  const active = signal(0)
  const isGoingToEnd = signal(false)
  let element: HTMLElement | undefined
  let idle = 0

  /** All rows, plus a “Loading…” row if there are more. */
  const rows = computed(() => pages.total.value + (pages.isComplete.value ? 0 : 1))
  const extent = computed(() => extentOf(rows.value, rowHeight.value, view.value))

  /** The rows to draw, and how far below the top of the track they start. */
  const drawn = computed(() => {
    const height = rowHeight.value
    const first = Math.max(0, Math.floor(top.value / height) - SPARE_ROWS)
    const end = Math.min(rows.value, Math.ceil((top.value + view.value) / height) + SPARE_ROWS)
    return { first, end, offset: first * height - top.value + scroll.value }
  })

  function setScroll(to: number): void {
    if (!element) return
    if (Math.abs(element.scrollTop - to) > 0.5) element.scrollTop = to
    scroll.value = element.scrollTop
  }

  /** Whether the browser has scrolled and not told of it yet: that must not be undone. */
  const isScrolled = () => element !== undefined && element.scrollTop !== scroll.value

  function setTop(to: number): void {
    top.value = Math.max(0, Math.min(to, extent.value.content - view.value))
    setScroll(toScroll(top.value, extent.value))
  }

  function onScroll(): void {
    if (!element) return
    const to = element.scrollTop
    if (to < scroll.value) isGoingToEnd.value = false
    top.value = move(top.value, scroll.value, to, extent.value)
    scroll.value = to
    clearTimeout(idle)
    // Small moves let the scroll bar drift from the position; this corrects it.
    idle = window.setTimeout(() => {
      if (!isScrolled()) setScroll(toScroll(top.value, extent.value))
    }, IDLE_MS)
  }

  function show(row: number): void {
    const above = row * rowHeight.value
    const below = above + rowHeight.value - view.value
    if (above < top.value) setTop(above)
    else if (below > top.value) setTop(below)
  }

  function activate(row: number): void {
    active.value = Math.max(0, Math.min(row, pages.total.value - 1))
    show(active.value)
  }

  function goToEnd(): void {
    isGoingToEnd.value = !pages.isComplete.value
    activate(pages.total.value - 1)
    setTop(extent.value.content)
  }

  /** Follows the scrolling element and a probe as high as a row. Call the result to stop. */
  function attach(scroller: HTMLElement, probe: HTMLElement): () => void {
    element = scroller
    const sizes = new ResizeObserver(() => {
      // After Disconnect the elements are gone, and measure 0.
      if (!scroller.isConnected) return
      const row = Math.floor(top.value / rowHeight.value)
      const isTaller = probe.offsetHeight !== rowHeight.value
      rowHeight.value = probe.offsetHeight
      view.value = scroller.clientHeight
      if (isTaller) setTop(row * rowHeight.value)
    })
    sizes.observe(scroller)
    sizes.observe(probe)
    const stop = effect(() => {
      const { first, end } = drawn.value
      pages.version.value
      const isToEnd = isGoingToEnd.value
      untracked(() => pages.want(first, end, isToEnd))
    })
    // When the height of the content changes, so does the scroll bar for the same position.
    const stopFollowing = effect(() => {
      const { content } = extent.value
      const isFollowed = isGoingToEnd.peek()
      queueMicrotask(() => {
        if (isScrolled()) return
        setTop(isFollowed ? content : top.peek())
        if (!isFollowed) return
        active.value = Math.max(0, pages.total.value - 1)
        if (pages.isComplete.value) isGoingToEnd.value = false
      })
    })
    return () => {
      sizes.disconnect()
      stop()
      stopFollowing()
    }
  }

  /** Goes back to the first row. */
  function reset(): void {
    isGoingToEnd.value = false
    active.value = 0
    setTop(0)
  }

  const pageRows = () => Math.max(1, Math.floor(view.value / rowHeight.value) - 1)

  /** Handles a key that moves the active row; false for any other key. */
  function onKey(key: string): boolean {
    const moves: Readonly<Record<string, () => void>> = {
      ArrowDown: () => activate(active.value + 1),
      ArrowUp: () => activate(active.value - 1),
      PageDown: () => activate(active.value + pageRows()),
      PageUp: () => activate(active.value - pageRows()),
      Home: () => activate(0),
      End: goToEnd,
    }
    const go = moves[key]
    if (!go) return false
    if (key !== 'End') isGoingToEnd.value = false
    go()
    return true
  }

  return {
    rowHeight,
    extent,
    drawn,
    active,
    isGoingToEnd,
    attach,
    onScroll,
    activate,
    onKey,
    reset,
  }
}
